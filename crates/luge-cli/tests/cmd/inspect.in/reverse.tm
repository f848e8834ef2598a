machine reverse   # the data, backwards
tape data: _ a b blank _ read-only
tape work: _ a b blank _
missing: reject
start: find-end
input data: a a b

find-end:
  _ * -> _ *, L S, copy
  * * -> * *, R S, find-end

copy:
  a * -> * a, L R, copy
  b * -> * b, L R, copy
  _ * -> * *, S S, done

done: accept
