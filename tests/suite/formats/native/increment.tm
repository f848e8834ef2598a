# Adds one to a binary number, most significant bit first.
machine "increment"
tape number: 0 1 _ blank _
start: right
input number: 1 0 1 1

right:                      # to the end of the number
  _ -> _, L, carry
  * -> *, R, right

carry:
  1 -> 0, L, carry
  * -> 1, S, done           # 0 or the blank

done: accept
