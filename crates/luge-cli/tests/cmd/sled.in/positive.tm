machine "positive"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape ruler: 0 1 blank 0 read-only
tape acc: 0 1 blank 0
missing: reject
start: start.1
input ruler: 1 0 0 0 0 0 0 0 1
input acc:

start.1:
  * * * * * -> * * * * *, R R S S S, start.2

start.2:
  * x * * * -> * * * * *, R R S S S, 4.1
  * e * * * -> * * * * *, S S S S S, accept

accept: accept

4.1:
  * _ * * * -> * * * * *, R R S S S, 4.1
  * x * * * -> * * * * *, R R S S S, 4.2
  * y * * * -> * * * * *, R R S S S, 4.2
  * e * * * -> * * * * *, R R S S S, 4.2

4.2:
  0 x * * * -> * * * * 0, R R S R R, 4.3
  0 y * * * -> * * * * 0, R R S R R, 4.3
  0 e * * * -> * * * * 0, R R S R R, 4.3
  1 x * * * -> * * * * 1, R R S R R, 4.3
  1 y * * * -> * * * * 1, R R S R R, 4.3
  1 e * * * -> * * * * 1, R R S R R, 4.3
  * _ * * * -> * * * * *, R R S S S, 4.2

4.3:
  0 * * 0 * -> * * * * 0, R R S R R, 4.3
  1 * * 0 * -> * * * * 1, R R S R R, 4.3
  * * * 1 * -> * * * * *, S S S L L, 4.4

4.4:
  * * * 0 * -> * * * * *, S S S L L, 4.4
  * * * 1 0 -> * * * * *, S S S R R, 4.5
  * * * 1 1 -> * * * * *, S S S R R, 4.6

4.5:
  * * * 0 0 -> * * * * *, S S S R R, 4.5
  * * * 0 1 -> * * * * *, S S S R R, 4.6
  * * * 1 * -> * * * * *, S S S L L, 4.7

4.6:
  * * * 0 0 -> * * * * *, S S S R R, 4.5
  * * * 0 1 -> * * * * *, S S S R R, 4.6
  * * * 1 * -> * * * * *, S S S L L, 4.8

4.7:
  * * * 0 * -> * * * * *, S S S L L, 4.7
  * * * 1 * -> * * * * *, L L S S S, 7.1

4.8:
  * * * 0 * -> * * * * *, S S S L L, 4.8
  * * * 1 * -> * * * * *, S S S S S, reject

reject: reject

7.1:
  0 x * * * -> * * * * 0, R R S R R, 7.2
  0 y * * * -> * * * * 0, R R S R R, 7.2
  0 e * * * -> * * * * 0, R R S R R, 7.2
  1 x * * * -> * * * * 1, R R S R R, 7.2
  1 y * * * -> * * * * 1, R R S R R, 7.2
  1 e * * * -> * * * * 1, R R S R R, 7.2
  * _ * * * -> * * * * *, L L S S S, 7.1

7.2:
  0 * * 0 * -> * * * * 0, R R S R R, 7.2
  1 * * 0 * -> * * * * 1, R R S R R, 7.2
  * * * 1 * -> * * * * *, S S S L L, 7.3

7.3:
  * * 0 1 1 -> * * 1 * *, S S R R R, 7.4
  * * 1 1 1 -> * * 0 * *, S S R R R, 7.5
  * * * 0 * -> * * * * *, S S S L L, 7.3
  * * * 1 0 -> * * * * *, S S R R R, 7.4

7.4:
  * * 0 0 1 -> * * 1 * *, S S R R R, 7.4
  * * 1 0 1 -> * * 0 * *, S S R R R, 7.5
  * * * 0 0 -> * * * * *, S S R R R, 7.4
  * * * 1 * -> * * * * *, S S S L L, 3.1

7.5:
  * * 0 0 0 -> * * 1 * *, S S R R R, 7.4
  * * 1 0 0 -> * * 0 * *, S S R R R, 7.5
  * * * 0 1 -> * * * * *, S S R R R, 7.5
  * * * 1 * -> * * * * *, S S S L L, 3.1

3.1:
  * * * 0 * -> * * * * *, S S S L L, 3.1
  * * * 1 * -> * * * * *, S S L R S, 3.2

3.2:
  * * * 0 * -> * * * * *, S S L R S, 3.2
  * * * 1 * -> * * * * *, S S S L S, 3.3

3.3:
  * x * 1 * -> * * * * *, R R S S S, 4.1
  * e * 1 * -> * * * * *, S S S S S, accept
  * * * 0 * -> * * * * *, S S S L S, 3.3
