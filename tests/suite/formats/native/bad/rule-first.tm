machine
tape t: 0 1 , blank 0
  0 -> 1, R, go
go:
  0 -> 1, R, go
  0 1 1 R go
