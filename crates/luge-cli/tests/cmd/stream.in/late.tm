machine
tape data: 0 1 blank 0 read-only
tape theta: 0 1 blank 0
wait: take
  * * -> * *, S S, busy
busy:
  * * -> * *, S S, labels
labels: latch
  * * -> * *, S S, done
done: accept
