1RB1LB_1LA1RZ Halt 6 4
# comments count as lines
1RB---_0LA---
1RA1LA_1RB1LB cycler
