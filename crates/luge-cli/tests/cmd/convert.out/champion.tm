machine
tape tape: 0 1 blank 0
missing: halt
start: A

A:
  0 -> 1, R, B
  1 -> 1, L, B

B:
  0 -> 1, L, A
  1 -> 1, R, Z

Z: accept
