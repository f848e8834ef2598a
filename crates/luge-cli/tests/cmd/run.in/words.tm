machine words
tape bag: empty apple pear blank empty
input bag: apple pear apple
missing: reject

eat:
  apple -> pear, R, eat
  empty -> apple, S, rest

rest: reject
