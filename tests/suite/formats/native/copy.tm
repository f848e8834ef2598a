machine copy
tape source: a b _ blank _ read-only
tape target: a b . blank .
missing: reject
start: copy
input source: b a a head 1

copy:
  a * -> * a, R R, copy
  b * -> b b, R R, copy     # the read-only tape may be written with what was read
  _ * -> * *, S L, stop

stop: accept
