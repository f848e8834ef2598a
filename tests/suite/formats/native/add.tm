# Adds two binary numbers written least significant bit first.
machine add
tape a: 0 1 _ blank _ read-only
tape b: 0 1 _ blank _ read-only
tape sum: 0 1 _ blank _
missing: reject
start: no-carry
input a: 1 1 0 1          # 11
input b: 1 1              # 3

no-carry:
  _ _ * -> * * *, S S S, done
  0 0 * -> * * 0, R R R, no-carry
  0 _ * -> * * 0, R S R, no-carry
  _ 0 * -> * * 0, S R R, no-carry
  0 1 * -> * * 1, R R R, no-carry
  1 0 * -> * * 1, R R R, no-carry
  1 _ * -> * * 1, R S R, no-carry
  _ 1 * -> * * 1, S R R, no-carry
  1 1 * -> * * 0, R R R, carry

carry:
  _ _ * -> * * 1, S S R, no-carry
  0 0 * -> * * 1, R R R, no-carry
  0 _ * -> * * 1, R S R, no-carry
  _ 0 * -> * * 1, S R R, no-carry
  0 1 * -> * * 0, R R R, carry
  1 0 * -> * * 0, R R R, carry
  1 _ * -> * * 0, R S R, carry
  _ 1 * -> * * 0, S R R, carry
  1 1 * -> * * 1, R R R, carry

done: accept
