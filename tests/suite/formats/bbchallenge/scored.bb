# the two-state champion: steps and ones
1RB1LB_1LA1RZ Halt 6 4
