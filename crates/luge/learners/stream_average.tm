# The mean of the labels of sixteen samples, rounded down, as the bias of a linear model with weights 0.
#
# `count` has a 1 for every sample to take, `extra` one for every doubling of their number: a sum of 2^k numbers has k bits more, and
# without its k lowest bits it is the mean. To average 32 samples, lay 32 and 5 ones.
machine "streaming mean"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape sum: _ 0 1 blank _
tape count: 0 1 blank 0 read-only
tape extra: 0 1 blank 0 read-only
input count: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
input extra: 1 1 1 1
start: next

next:
  * * * * 1 * -> * * * * * *, S S S S R S, wait
  * * * * * * -> * * * * * *, S S S S S S, shift

wait: take
  * * * * * * -> * * * * * *, S S S S S S, labels

labels: latch
  * * * * * * -> * * * * * *, R R S S S S, seek

seek:
  0 y * 1 * * -> * * * 1 * *, R R S R S S, add00
  0 y * * * * -> * * * 0 * *, R R S R S S, add00
  1 y * 1 * * -> * * * 0 * *, R R S R S S, add11
  1 y * * * * -> * * * 1 * *, R R S R S S, add01
  * * * * * * -> * * * * * *, R R S S S S, seek

add00:
  * e * * * * -> * * * * * *, L L S S S S, sign00
  0 * * 1 * * -> * * * 1 * *, R R S R S S, add00
  0 * * * * * -> * * * 0 * *, R R S R S S, add00
  1 * * 1 * * -> * * * 0 * *, R R S R S S, add11
  1 * * * * * -> * * * 1 * *, R R S R S S, add01

add01:
  * e * * * * -> * * * * * *, L L S S S S, sign01
  0 * * 1 * * -> * * * 1 * *, R R S R S S, add00
  0 * * * * * -> * * * 0 * *, R R S R S S, add00
  1 * * 1 * * -> * * * 0 * *, R R S R S S, add11
  1 * * * * * -> * * * 1 * *, R R S R S S, add01

add10:
  * e * * * * -> * * * * * *, L L S S S S, sign10
  0 * * 1 * * -> * * * 0 * *, R R S R S S, add10
  0 * * * * * -> * * * 1 * *, R R S R S S, add00
  1 * * 1 * * -> * * * 1 * *, R R S R S S, add11
  1 * * * * * -> * * * 0 * *, R R S R S S, add11

add11:
  * e * * * * -> * * * * * *, L L S S S S, sign11
  0 * * 1 * * -> * * * 0 * *, R R S R S S, add10
  0 * * * * * -> * * * 1 * *, R R S R S S, add00
  1 * * 1 * * -> * * * 1 * *, R R S R S S, add11
  1 * * * * * -> * * * 0 * *, R R S R S S, add11

sign00:
  * * * 1 * 1 -> * * * 1 * *, S S S R S R, sign00
  * * * * * 1 -> * * * 0 * *, S S S R S R, sign00
  * * * * * 0 -> * * * * * *, S S S L S L, home

sign01:
  * * * 1 * 1 -> * * * 0 * *, S S S R S R, sign11
  * * * * * 1 -> * * * 1 * *, S S S R S R, sign01
  * * * * * 0 -> * * * * * *, S S S L S L, home

sign10:
  * * * 1 * 1 -> * * * 0 * *, S S S R S R, sign10
  * * * * * 1 -> * * * 1 * *, S S S R S R, sign00
  * * * * * 0 -> * * * * * *, S S S L S L, home

sign11:
  * * * 1 * 1 -> * * * 1 * *, S S S R S R, sign11
  * * * * * 1 -> * * * 0 * *, S S S R S R, sign11
  * * * * * 0 -> * * * * * *, S S S L S L, home

home:
  # all heads but that of `count` go back, one after the other
  * * * 0 * * -> * * * * * *, S S S L S S, home
  * * * 1 * * -> * * * * * *, S S S L S S, home
  * * * * * 1 -> * * * * * *, S S S S S L, home
  * e * * * * -> * * * * * *, S S S R S R, next
  * * * * * * -> * * * * * *, L L S S S S, home

shift:
  * * * * * 1 -> * * * * * *, S S S R S R, shift
  * * * * * * -> * * * * * *, R R S S S S, find

find:
  * y * 0 * * -> * * 0 * * *, R R R R S S, copy
  * y * 1 * * -> * * 1 * * *, R R R R S S, copy
  * * * * * * -> * * * * * *, R R S S S S, find

copy:
  * e * * * * -> * * * * * *, S S S S S S, done
  * * * 0 * * -> * * 0 * * *, R R R R S S, copy
  * * * 1 * * -> * * 1 * * *, R R R R S S, copy

done: accept
