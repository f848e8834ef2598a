machine "two"
tape a: 0 1 blank 0
tape b: _ x blank _ read-only
start: s
s:
  * _ -> keep, R | keep, R, s
