machine
tape t: 0 1 blank 0
input u: 0 1
input t: 0 2 head
input t: 1 0 head 1 1
input t: 1
input t: 0
input t: 1 head -16777217
input t: 1 head 9000000000000000000
go: accept now
