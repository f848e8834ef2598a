# One tape, small enough for landscape A: every configuration is a vertex.
# The data are two samples of one feature and one label, two bits each, behind the marker:
#   cell  0 marker, 1 2 first feature, 3 4 first label, 5 6 second feature, 7 8 second label.
# theta lies on the same tape from cell 1 on: the first label moves there (bias), and zero takes its place (weight).
machine "keep the first label"
tape tape: 0 1 blank 0
start: begin

begin:
  * -> *, R, to_low_1
to_low_1:
  * -> *, R, to_low_2
to_low_2:
  * -> *, R, take_low
take_low:
  0 -> 0, L, low_0_back
  1 -> 0, L, low_1_back
low_0_back:
  * -> *, L, put_low_0
low_1_back:
  * -> *, L, put_low_1
put_low_0:
  * -> 0, R, to_high_1
put_low_1:
  * -> 1, R, to_high_1
to_high_1:
  * -> *, R, to_high_2
to_high_2:
  * -> *, R, take_high
take_high:
  0 -> 0, L, high_0_back
  1 -> 0, L, high_1_back
high_0_back:
  * -> *, L, put_high_0
high_1_back:
  * -> *, L, put_high_1
put_high_0:
  * -> 0, S, done
put_high_1:
  * -> 1, S, done

done: accept
