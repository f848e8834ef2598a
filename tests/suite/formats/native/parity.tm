machine "parity of ones"
tape bits: 0 1 end blank end
missing: halt
start: even

even:
  0 -> *, R, even
  1 -> *, R, odd
  # no rule for `end`: the machine halts here, neither accepting nor rejecting

odd:
  0   -> *, R, odd
  1   -> *, R, even
  end -> *, L, fail

fail: reject
