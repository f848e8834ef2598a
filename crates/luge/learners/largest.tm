# The largest of labels that are not negative. Every label is compared with the largest so far, which lies on theta, from the lowest
# bit up: the highest bit that differs decides. theta = (largest label, 0, 0, ...).
machine "the largest label"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
start: begin

begin:
  * * * -> * * *, R R S, seek

seek:                                    # the head of theta is on cell 0
  1 y 0 -> * * *, R R R, larger
  * y * -> * * *, R R R, not_larger
  * e * -> * * *, S S S, done
  * * * -> * * *, R R S, seek

not_larger:
  1 _ 0 -> * * *, R R R, larger
  * _ * -> * * *, R R R, not_larger
  * * * -> * * *, L L L, return

larger:
  0 _ 1 -> * * *, R R R, not_larger
  * _ * -> * * *, R R R, larger
  * * * -> * * *, L L L, copy

copy:                                    # from the highest bit down
  0 _ * -> * * 0, L L L, copy
  1 _ * -> * * 1, L L L, copy
  0 y * -> * * 0, R R S, seek
  1 y * -> * * 1, R R S, seek

return:
  * _ * -> * * *, L L L, return
  * y * -> * * *, R R S, seek

done: accept
