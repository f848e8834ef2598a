# A learner that runs other learners. The program on tape `program` is a table of rules, docs/universal.md says how it is written;
# as part of the initial weights it makes this one network any learner with the tapes data, marks and theta.
# `count` holds a tally of the blocks that a jump has yet to cross; its head lies on the last mark.
machine "a universal learner"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
tape program: ; . 0 1 blank ;
tape count: 0 1 blank 0
start: skip
# copy_label.tm
input program: 0 1 0 . 0 1 1 1 ; 1 1 0 . 1 1 1 1 ; . . . . . 1 . 0 ; ; 0 0 0 . 0 1 1 0 ; 1 0 0 . 1 1 1 0 ; . . . . . . . 1 ; ; . ; ; head -1

skip:                                    # to the next rule, or the end of its block
  * * * ; * -> * * * * *, S S S R S, rule
  * * * * * -> * * * * *, S S S R S, skip

rule:                                    # a rule's first cell; while marks are left, only block ends count
  * * * ; 1 -> * * * * 0, S S S R L, rule
  * * * * 1 -> * * * * *, S S S R S, skip
  * * * ; * -> * * * * *, S S S S S, no_rule
  * * * . * -> * * * * *, S S S R S, mark_high
  0 * * 0 * -> * * * * *, S S S R S, mark_high
  1 * * 1 * -> * * * * *, S S S R S, mark_high
  * * * * * -> * * * * *, S S S R S, skip

mark_high:                               # _ and x are 0., y and e are 1.; a rule that ends here accepts
  * * * ; * -> * * * * *, S S S S S, done
  * * * . * -> * * * * *, S S S R S, mark_low
  * _ * 0 * -> * * * * *, S S S R S, mark_low
  * x * 0 * -> * * * * *, S S S R S, mark_low
  * y * 1 * -> * * * * *, S S S R S, mark_low
  * e * 1 * -> * * * * *, S S S R S, mark_low
  * * * * * -> * * * * *, S S S R S, skip

mark_low:                                # _ and y are .0, x and e are .1
  * * * . * -> * * * * *, S S S R S, theta
  * _ * 0 * -> * * * * *, S S S R S, theta
  * y * 0 * -> * * * * *, S S S R S, theta
  * x * 1 * -> * * * * *, S S S R S, theta
  * e * 1 * -> * * * * *, S S S R S, theta
  * * * * * -> * * * * *, S S S R S, skip

theta:
  * * * . * -> * * * * *, S S S R S, write
  * * 0 0 * -> * * * * *, S S S R S, write
  * * 1 1 * -> * * * * *, S S S R S, write
  * * * * * -> * * * * *, S S S R S, skip

write:                                   # the rule fits: do what it says
  * * * 0 * -> * * 0 * *, S S S R S, move_data
  * * * 1 * -> * * 1 * *, S S S R S, move_data
  * * * * * -> * * * * *, S S S R S, move_data

move_data:
  * * * 0 * -> * * * * *, L L S R S, move_theta
  * * * 1 * -> * * * * *, R R S R S, move_theta
  * * * * * -> * * * * *, S S S R S, move_theta

move_theta:
  * * * 0 * -> * * * * *, S S L R R, jump
  * * * 1 * -> * * * * *, S S R R R, jump
  * * * * * -> * * * * *, S S S R R, jump

jump:                                    # 1 per block to the right, or 0 and one more per block to the left
  * * * 1 * -> * * * * 1, S S S R R, jump
  * * * 0 * -> * * * * *, S S S R S, jump_back
  * * * * * -> * * * * *, S S S R L, rule

jump_back:
  * * * 0 * -> * * * * 1, S S S R R, jump_back
  * * * * * -> * * * * *, S S S L L, back

back:
  * * * ; * -> * * * * *, S S S L S, block_end
  * * * * * -> * * * * *, S S S L S, back

block_end:                               # right of two ; a block begins
  * * * ; 1 -> * * * * 0, S S S L L, block_end
  * * * ; * -> * * * * *, S S S R S, skip
  * * * * * -> * * * * *, S S S L S, back

done: accept
no_rule: reject
