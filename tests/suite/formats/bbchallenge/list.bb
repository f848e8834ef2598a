# two states, two symbols

1RB1LB_1LA1RZ Halt 6 4
1RB---_0LA---
1RA1LA_1RB1LB   translated cycler, 1
