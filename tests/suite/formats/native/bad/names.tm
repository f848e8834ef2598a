machine
tape a: 0 1 blank 0
start: begin

go:
  0 -> 2, R, go
  x -> 1, R, stop
go: accept
stop: halt
  1 -> 1, L, go
