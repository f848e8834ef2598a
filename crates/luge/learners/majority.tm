# Majority of labels that are 0 or 1, in a format without fraction bits such as fix:2.0; other labels are rejected.
# Every label leaves a tally mark; then both rows of marks are walked back together. A tie counts as 0.
# theta = (1 or 0, 0, 0, ...).
machine "majority of binary labels"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape ones: 0 1 blank 0
tape zeros: 0 1 blank 0
start: begin

begin:                                   # off the marker in front of the data
  * * * * * -> * * * * *, R R S S S, tally

tally:
  1 y * * * -> * * * 1 *, R R S R S, rest
  0 y * * * -> * * * * 1, R R S S R, rest
  * e * * * -> * * * * *, S S S L L, compare
  * * * * * -> * * * * *, R R S S S, tally

rest:                                    # the higher bits of a label are 0
  1 _ * * * -> * * * * *, S S S S S, not_binary
  0 _ * * * -> * * * * *, R R S S S, rest
  * * * * * -> * * * * *, S S S S S, tally

compare:
  * * * 1 1 -> * * * * *, S S S L L, compare
  * * * 1 0 -> * * 1 * *, S S S S S, done
  * * * 0 * -> * * * * *, S S S S S, done

done: accept
not_binary: reject
