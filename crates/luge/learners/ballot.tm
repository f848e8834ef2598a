# Majority of the labels' lowest bits, with no tape but theta: the place of its head, right or left of a 1 in cell 0, is the score.
# A tie counts as 0. theta = (lowest bit set or not, 0, 0, ...), which is 1 or 0 in a format without fraction bits.
machine "a ballot among the labels"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
start: begin

begin:
  * * * -> * * 1, R R S, tie

tie:
  1 y * -> * * *, R R R, ones_lead
  0 y * -> * * *, R R L, zeros_lead
  * e * -> * * 0, S S S, done
  * * * -> * * *, R R S, tie

ones_lead:
  * * 1 -> * * *, S S S, tie
  1 y * -> * * *, R R R, ones_lead
  0 y * -> * * *, R R L, ones_lead
  * e * -> * * *, S S S, done
  * * * -> * * *, R R S, ones_lead

zeros_lead:
  * * 1 -> * * *, S S S, tie
  1 y * -> * * *, R R R, zeros_lead
  0 y * -> * * *, R R L, zeros_lead
  * e * -> * * *, S S R, erase
  * * * -> * * *, R R S, zeros_lead

erase:                                   # zeros lead: the 1 in cell 0 goes
  * * 1 -> * * 0, S S S, done
  * * * -> * * *, S S R, erase

done: accept
