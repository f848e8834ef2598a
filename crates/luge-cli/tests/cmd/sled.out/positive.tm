machine "positive"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape "ruler 1": 0 1 blank 0 read-only
missing: reject
start: start.1
input "ruler 1": 1 0 0 0 0 0 0 0 1

start.1:
  * * * * -> * * * *, R R S S, start.2

reject: reject

start.2:
  * x * * -> * * * *, R R S S, 4.1
  * e * * -> * * * *, S S S S, accept

accept: accept

4.1:
  * _ * * -> * * * *, R R S S, 4.1
  * x * * -> * * * *, R R S S, 4.2
  * y * * -> * * * *, R R S S, 4.2
  * e * * -> * * * *, R R S S, 4.2

4.2:
  0 x * * -> * * * *, R R S R, 4.3
  0 y * * -> * * * *, R R S R, 4.3
  0 e * * -> * * * *, R R S R, 4.3
  1 x * * -> * * * *, R R S R, 4.4
  1 y * * -> * * * *, R R S R, 4.4
  1 e * * -> * * * *, R R S R, 4.4
  * _ * * -> * * * *, R R S S, 4.2

4.3:
  0 * * 0 -> * * * *, R R S R, 4.3
  1 * * 0 -> * * * *, R R S R, 4.4
  * * * 1 -> * * * *, L L S S, 7.1

4.4:
  0 * * 0 -> * * * *, R R S R, 4.3
  1 * * 0 -> * * * *, R R S R, 4.4
  * * * 1 -> * * * *, S S S S, reject

7.1:
  0 x * * -> * * * *, R R R L, 7.2
  0 y * * -> * * * *, R R R L, 7.2
  0 e * * -> * * * *, R R R L, 7.2
  1 x 0 * -> * * 1 *, R R R L, 7.2
  1 x 1 * -> * * 0 *, R R R L, 7.3
  1 y 0 * -> * * 1 *, R R R L, 7.2
  1 y 1 * -> * * 0 *, R R R L, 7.3
  1 e 0 * -> * * 1 *, R R R L, 7.2
  1 e 1 * -> * * 0 *, R R R L, 7.3
  * _ * * -> * * * *, L L S S, 7.1

7.2:
  0 * * 0 -> * * * *, R R R L, 7.2
  1 * 0 0 -> * * 1 *, R R R L, 7.2
  1 * 1 0 -> * * 0 *, R R R L, 7.3
  * * * 1 -> * * * *, S S L R, 3.1

7.3:
  0 * 0 0 -> * * 1 *, R R R L, 7.2
  0 * 1 0 -> * * 0 *, R R R L, 7.3
  1 * * 0 -> * * * *, R R R L, 7.3
  * * * 1 -> * * * *, S S L R, 3.1

3.1:
  * * * 0 -> * * * *, S S L R, 3.1
  * * * 1 -> * * * *, S S S L, 3.2

3.2:
  * x * 1 -> * * * *, R R S S, 4.1
  * e * 1 -> * * * *, S S S S, accept
  * * * 0 -> * * * *, S S S L, 3.2
