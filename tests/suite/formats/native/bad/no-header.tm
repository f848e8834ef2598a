tape t: 0 1 blank 0

go:
  0 -> 1, R, go
