machine
