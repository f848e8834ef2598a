machine
tape a: 0 1 blank 0
tape b: 0 1 blank 0

go:
  0 -> 1 1, R R, go
  0 0 -> 1, R S, go
  0 1 -> 1 1, R, go
  1 1 -> 1 1, R R
  1 0 -> 1 1, R X, go
  1 0 -> 1 1, R R, go on
