machine
machine again
tape t: 0 1 blank 0
missing: stop
start: done
start: done
done: accept
  0 -> 1, R, done
