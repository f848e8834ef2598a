machine "tapes"
tape a: 0 1
tape b: 0 1 blank _
tape c: 0 0 * blank 0
tape d: 0 1 blank 0 writable
tape b: x blank x
tape e 0 1
input b: 0 head here
input b: 0 7
go: accept
