machine "the first rule that fits is taken"
tape left: 0 1 blank 0
tape right: 0 1 blank 0
missing: reject

walk:                     # no `start:` line: the first state is the start
  1 1 -> 0 *, S R, turn
  1 * -> * 1, R R, walk
  1 0 -> 0 0, L L, walk   # never
  * 1 -> 1 *, L R, turn

turn:
  0 1 -> 1 0, L R, walk
