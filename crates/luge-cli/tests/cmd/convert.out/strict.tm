machine "reverse"
tape data.0: 0 1 blank 0 read-only
tape data.1: 0 1 blank 0 read-only
tape work.0: 0 1 blank 0
tape work.1: 0 1 blank 0
missing: reject
start: find-end
input data.0: 1 0 1 0 0
input data.1: 0 0 0 0 1

find-end:
  0 0 * * -> 0 0 * *, L L R R, copy.LL
  * * * * -> * * * *, R R R R, find-end.RL

copy:
  1 0 * * -> * * 1 0, L L R R, copy.LR
  0 1 * * -> * * 0 1, L L R R, copy.LR
  0 0 * * -> * * * *, R R R R, done.LL

done: accept

copy.LL:
  * * * * -> * * * *, L L L L, copy

find-end.RL:
  * * * * -> * * * *, R R L L, find-end

copy.LR:
  * * * * -> * * * *, L L R R, copy

done.LL:
  * * * * -> * * * *, L L L L, done
