machine
tape a: 0 1 blank 0 read-only
tape b: 0 1 blank 0

go:
  0 * -> 1 1, R R, go
  * 0 -> 1 *, R R, go
  1 1 -> 1 0, R R, go     # this one is fine
