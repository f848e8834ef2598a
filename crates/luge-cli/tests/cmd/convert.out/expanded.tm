machine "reverse"
tape data: _ a b blank _ read-only
tape work: _ a b blank _
missing: reject
start: find-end

find-end:
  _ _ -> _ *, L S, copy
  _ a -> _ *, L S, copy
  _ b -> _ *, L S, copy
  a _ -> * *, R S, find-end
  a a -> * *, R S, find-end
  a b -> * *, R S, find-end
  b _ -> * *, R S, find-end
  b a -> * *, R S, find-end
  b b -> * *, R S, find-end

copy:
  _ _ -> * *, S S, done
  _ a -> * *, S S, done
  _ b -> * *, S S, done
  a _ -> * a, L R, copy
  a a -> * a, L R, copy
  a b -> * a, L R, copy
  b _ -> * b, L R, copy
  b a -> * b, L R, copy
  b b -> * b, L R, copy

done: accept
