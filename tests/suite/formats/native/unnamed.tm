machine
tape t: 0 1 blank 0
start: go
stop: reject      # halting states stand anywhere
go:
  0 -> 1, L, go
  1 -> 1, S, stop
