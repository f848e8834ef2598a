# Which bits does a parity count? Gaussian elimination over GF(2), one sample at a time.
#
# `rows` holds one row for every bit that could be the first of an equation: the bits from there on, then the label; a row that
# is not known yet is blank. A sample that is taken is copied to `work`, from its last bit to its first, and reduced by the rows in
# turn: every bit that was looked at is wiped off. Where a row is missing, what is left of the sample becomes that row.
# A sample that no row is missing for ends the search: the rows are solved from the last to the first, and the answer is copied
# to `theta`, a 1 for every bit that counts. The label of the sample that is being reduced is in the state's name, and so
# is whether all rows so far were there.
machine "parity"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape work: _ 0 1 blank _
tape rows: _ 0 1 ^ blank _
start: begin

begin:
  * * * * * -> * * * * ^, S S S S R, wait

wait: take
  * * * * * -> * * * * *, S S S S S, labels

labels: latch
  * * * * * -> * * * * *, R R S S S, seek

seek:
  # to the end of the sample
  * e * * * -> * * * * *, L L S S S, load
  * * * * * -> * * * * *, R R S S S, seek

load:
  # the label, whose lowest bit is the sample's last mark
  0 y * * * -> * * * * *, L L S L S, load0
  1 y * * * -> * * * * *, L L S L S, load1
  * * * * * -> * * * * *, L L S S S, load

load0:
  0 x * * * -> * * * 0 *, L L S L S, load0
  1 x * * * -> * * * 1 *, L L S L S, load0
  * e * * * -> * * * * *, S S S R S, pivot0all
  * _ * * * -> * * * * *, L L S S S, load0

load1:
  0 x * * * -> * * * 0 *, L L S L S, load1
  1 x * * * -> * * * 1 *, L L S L S, load1
  * e * * * -> * * * * *, S S S R S, pivot1all
  * _ * * * -> * * * * *, L L S S S, load1

pivot0all:
  * * * _ * -> * * * * *, S S S S L, solve    # nothing is left, and no row is missing
  * * * 0 _ -> * * * _ *, S S S R R, skip0some
  * * * 0 * -> * * * _ *, S S S R R, skip0all
  * * * 1 _ -> * * * _ 1, S S S R R, store0
  * * * 1 * -> * * * _ *, S S S R R, add0all

pivot0some:
  * * * _ * -> * * * * *, S S S S L, rewind    # nothing new
  * * * 0 _ -> * * * _ *, S S S R R, skip0some
  * * * 0 * -> * * * _ *, S S S R R, skip0some
  * * * 1 _ -> * * * _ 1, S S S R R, store0
  * * * 1 * -> * * * _ *, S S S R R, add0some

pivot1all:
  * * * _ * -> * * * * *, S S S S L, contradiction    # the labels are no parity
  * * * 0 _ -> * * * _ *, S S S R R, skip1some
  * * * 0 * -> * * * _ *, S S S R R, skip1all
  * * * 1 _ -> * * * _ 1, S S S R R, store1
  * * * 1 * -> * * * _ *, S S S R R, add1all

pivot1some:
  * * * _ * -> * * * * *, S S S S L, rewind    # nothing new
  * * * 0 _ -> * * * _ *, S S S R R, skip1some
  * * * 0 * -> * * * _ *, S S S R R, skip1some
  * * * 1 _ -> * * * _ 1, S S S R R, store1
  * * * 1 * -> * * * _ *, S S S R R, add1some

skip0all:
  * * * _ * -> * * * * *, S S S L R, back0all
  * * * * * -> * * * * *, S S S R R, skip0all

add0all:
  * * * _ 1 -> * * * * *, S S S L R, back1all
  * * * _ * -> * * * * *, S S S L R, back0all
  * * * 0 1 -> * * * 1 *, S S S R R, add0all
  * * * 1 1 -> * * * 0 *, S S S R R, add0all
  * * * * * -> * * * * *, S S S R R, add0all

back0all:
  * * * _ * -> * * * * *, S S S R S, pivot0all
  * * * * * -> * * * * *, S S S L S, back0all

skip0some:
  * * * _ * -> * * * * *, S S S L R, back0some
  * * * * * -> * * * * *, S S S R R, skip0some

add0some:
  * * * _ 1 -> * * * * *, S S S L R, back1some
  * * * _ * -> * * * * *, S S S L R, back0some
  * * * 0 1 -> * * * 1 *, S S S R R, add0some
  * * * 1 1 -> * * * 0 *, S S S R R, add0some
  * * * * * -> * * * * *, S S S R R, add0some

back0some:
  * * * _ * -> * * * * *, S S S R S, pivot0some
  * * * * * -> * * * * *, S S S L S, back0some

store0:
  * * * _ * -> * * * * 0, S S S S L, rewind
  * * * 0 * -> * * * _ 0, S S S R R, store0
  * * * 1 * -> * * * _ 1, S S S R R, store0

skip1all:
  * * * _ * -> * * * * *, S S S L R, back1all
  * * * * * -> * * * * *, S S S R R, skip1all

add1all:
  * * * _ 1 -> * * * * *, S S S L R, back0all
  * * * _ * -> * * * * *, S S S L R, back1all
  * * * 0 1 -> * * * 1 *, S S S R R, add1all
  * * * 1 1 -> * * * 0 *, S S S R R, add1all
  * * * * * -> * * * * *, S S S R R, add1all

back1all:
  * * * _ * -> * * * * *, S S S R S, pivot1all
  * * * * * -> * * * * *, S S S L S, back1all

skip1some:
  * * * _ * -> * * * * *, S S S L R, back1some
  * * * * * -> * * * * *, S S S R R, skip1some

add1some:
  * * * _ 1 -> * * * * *, S S S L R, back0some
  * * * _ * -> * * * * *, S S S L R, back1some
  * * * 0 1 -> * * * 1 *, S S S R R, add1some
  * * * 1 1 -> * * * 0 *, S S S R R, add1some
  * * * * * -> * * * * *, S S S R R, add1some

back1some:
  * * * _ * -> * * * * *, S S S R S, pivot1some
  * * * * * -> * * * * *, S S S L S, back1some

store1:
  * * * _ * -> * * * * 1, S S S S L, rewind
  * * * 0 * -> * * * _ 0, S S S R R, store1
  * * * 1 * -> * * * _ 1, S S S R R, store1

rewind:
  * * * * ^ -> * * * * *, S S S S R, wait
  * * * * * -> * * * * *, S S S S L, rewind

solve:
  # `work` now holds the answer's bits from the last on; its head goes to their end
  * * * _ ^ -> * * * * *, S S S L S, home
  * * * _ 0 -> * * * * *, S S S L L, sum0
  * * * _ 1 -> * * * * *, S S S L L, sum1
  * * * * * -> * * * * *, S S S R S, solve

sum0:
  * * * _ * -> * * * 0 *, S S S R L, solve    # the row's first bit is always 1
  * * * 1 1 -> * * * * *, S S S L L, sum1
  * * * * * -> * * * * *, S S S L L, sum0

sum1:
  * * * _ * -> * * * 1 *, S S S R L, solve    # the row's first bit is always 1
  * * * 1 1 -> * * * * *, S S S L L, sum0
  * * * * * -> * * * * *, S S S L L, sum1

home:
  * * * _ * -> * * * * *, R R S R S, write
  * * * * * -> * * * * *, S S S L S, home

write:
  * y * * * -> * * * * *, S S S S S, done
  * x * 0 * -> * * 0 * *, R R R R S, write
  * x * 1 * -> * * 1 * *, R R R R S, write
  * _ * * * -> * * * * *, R R R S S, write

done: accept

contradiction: reject
