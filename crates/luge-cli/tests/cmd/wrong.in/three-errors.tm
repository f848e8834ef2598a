machine broken
tape tape: 0 1 blank 0
missing: halt

A:
  0 -> 1, R, B
  2 -> 1, R, A
  1 -> 1, X, A
