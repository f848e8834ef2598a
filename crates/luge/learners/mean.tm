# The mean of labels that are not negative, for 1, 2, 4, 8, ... samples: a running sum, then a shift.
# `sum` and `count` hold binary numbers, lowest bit first, from cell 0 on; `_` before cell 0 ends the way back.
# With n = 2^k samples the mean is the sum without its k lowest bits, so it is rounded down to the format.
# theta = (mean, 0, 0, ...).
machine "mean of the labels"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape sum: _ 0 1 blank _
tape count: _ 0 1 blank _
start: begin

begin:
  * * * * * -> * * * * *, R R S S S, seek

seek:                                    # the next label, or the end
  0 y * _ * -> * * * 0 *, R R S R S, add
  0 y * 0 * -> * * * 0 *, R R S R S, add
  0 y * 1 * -> * * * 1 *, R R S R S, add
  1 y * _ * -> * * * 1 *, R R S R S, add
  1 y * 0 * -> * * * 1 *, R R S R S, add
  1 y * 1 * -> * * * 0 *, R R S R S, add_carry
  * e * * * -> * * * * *, S S S S S, shift
  * * * * * -> * * * * *, R R S S S, seek

add:
  0 _ * _ * -> * * * 0 *, R R S R S, add
  0 _ * 0 * -> * * * 0 *, R R S R S, add
  0 _ * 1 * -> * * * 1 *, R R S R S, add
  1 _ * _ * -> * * * 1 *, R R S R S, add
  1 _ * 0 * -> * * * 1 *, R R S R S, add
  1 _ * 1 * -> * * * 0 *, R R S R S, add_carry
  * * * * * -> * * * * *, L L S S S, sign

add_carry:
  0 _ * _ * -> * * * 1 *, R R S R S, add
  0 _ * 0 * -> * * * 1 *, R R S R S, add
  0 _ * 1 * -> * * * 0 *, R R S R S, add_carry
  1 _ * _ * -> * * * 0 *, R R S R S, add_carry
  1 _ * 0 * -> * * * 0 *, R R S R S, add_carry
  1 _ * 1 * -> * * * 1 *, R R S R S, add_carry
  * * * * * -> * * * * *, L L S S S, sign_carry

sign:                                    # the last bit of a label is its sign
  0 * * * * -> * * * * *, R R S L S, back
  1 * * * * -> * * * * *, S S S S S, negative

sign_carry:
  0 * * * * -> * * * * *, R R S S S, carry
  1 * * * * -> * * * * *, S S S S S, negative

carry:
  * * * 1 * -> * * * 0 *, S S S R S, carry
  * * * * * -> * * * 1 *, S S S L S, back

back:
  * * * _ * -> * * * * *, S S S R S, increment
  * * * * * -> * * * * *, S S S L S, back

increment:
  * * * * 1 -> * * * * 0, S S S S R, increment
  * * * * * -> * * * * 1, S S S S L, rewind

rewind:
  * * * * _ -> * * * * *, S S S S R, seek
  * * * * * -> * * * * *, S S S S L, rewind

shift:                                   # both heads to the only 1 of the count
  * * * * 0 -> * * * * *, S S S R R, shift
  * * * * 1 -> * * * * *, S S S S R, check
  * * * * _ -> * * * * *, S S S S S, no_mean

check:
  * * * * _ -> * * * * *, L L S S S, copy
  * * * * * -> * * * * *, S S S S S, no_mean

copy:                                    # back over the last label, which is as long as theta's first number
  * y * 1 * -> * * 1 * *, S S S S S, done
  * y * * * -> * * * * *, S S S S S, done
  * * * 1 * -> * * 1 * *, L L R R S, copy
  * * * * * -> * * * * *, L L R R S, copy

done: accept
no_mean: reject                          # the number of samples is no power of two
negative: reject                         # the sum of two's complement numbers would need a longer sign
