machine "never closed
tape t: 0 "\q" blank 0
tape u: 0 "\u{110000}" blank 0
go: accept
