# The simplest learner: predict the first label, whatever the features.
# theta = (label of the first sample, 0, 0, ...): the bias of a linear model comes first.
machine "copy the first label"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only    # x, y: lowest bit of a feature, of a label; e: both ends
tape theta: 0 1 blank 0
start: seek

seek:
  0 y * -> * * 0, R R R, copy
  1 y * -> * * 1, R R R, copy
  * * * -> * * *, R R S, seek

copy:                                    # until the next number, or the end, begins
  0 _ * -> * * 0, R R R, copy
  1 _ * -> * * 1, R R R, copy
  * * * -> * * *, S S S, done

done: accept
