machine "reverse"
tape data.0: 0 1 blank 0 read-only
tape data.1: 0 1 blank 0 read-only
tape work.0: 0 1 blank 0
tape work.1: 0 1 blank 0
missing: reject
start: find-end
input data.0: 1 1 0
input data.1: 0 0 1

find-end:
  0 0 * * -> 0 0 * *, L L S S, copy
  * * * * -> * * * *, R R S S, find-end

copy:
  1 0 * * -> * * 1 0, L L R R, copy
  0 1 * * -> * * 0 1, L L R R, copy
  0 0 * * -> * * * *, S S S S, done

done: accept
