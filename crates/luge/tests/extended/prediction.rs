//! After training: f_theta on new x and any batch size, and networks with a hidden layer.

use luge::files::predictor::Predictor;
use luge_landscape::{Carrier, LandscapeKind, Mlp};
use luge_net::{Shape, SparseValues, Values, evaluate};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Uniform};

use crate::classroom::{Classroom, OUTSIDE, shipped, written};

/// New inputs per learner.
const N_NEW: usize = 200;

fn random(rows: usize, cols: usize, seed: u64) -> Values {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let uniform = Uniform::new_inclusive(-4.0, 4.0).expect("a range");
    let data = (0..rows * cols).map(|_| uniform.sample(&mut generator)).collect();
    Values::new(Shape::new(rows, cols), data)
}

/// Layer by layer, unit by unit, the bias first: the documented order of theta as a plain loop.
fn by_hand(widths: &[usize], theta: &[f64], sample: &[f64]) -> Vec<f64> {
    let mut values = sample.to_vec();
    let mut rest = theta.iter();
    for (layer, &width) in widths.iter().enumerate().skip(1) {
        let mut next = Vec::new();
        for _ in 0..width {
            let bias = *rest.next().expect("a bias");
            let mut total = 0.0;
            for value in &values {
                total += value * *rest.next().expect("a weight");
            }
            total += bias;
            next.push(if layer + 1 < widths.len() { f64::max(total, 0.0) } else { total });
        }
        values = next;
    }
    assert_eq!(rest.next(), None, "a weight too many");
    values
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|v| v.to_bits()).collect()
}

/// The predictor against the plain loop and the whole trained network, on any number of samples.
fn check(room: &Classroom, widths: &[usize]) {
    let lessons = room.proved();
    let lesson = room.lesson();
    let predictor = Predictor::new(&*room.primary, lessons.theta.clone());
    let x = random(N_NEW, widths[0], 7);
    let all = predictor.predict(&x);
    for row in 0..N_NEW {
        assert_eq!(bits(all.row(row)), bits(&by_hand(widths, &lessons.theta, x.row(row))), "{}", room.name());
    }
    for n_rows in [1, 2, 7, 50] {
        let batch = Values::new(Shape::new(n_rows, widths[0]), x.data[..n_rows * widths[0]].to_vec());
        assert_eq!(bits(&predictor.predict(&batch).data), bits(&all.data[..all.shape.cols * n_rows]));
    }
    // F itself takes as many samples at a time as it was trained on.
    let n_rows = room.table.n_samples();
    for first in (0..N_NEW - n_rows).step_by(n_rows) {
        let rows = x.data[first * widths[0]..(first + n_rows) * widths[0]].to_vec();
        let inputs = [Values::new(Shape::new(n_rows, widths[0]), rows), room.table.labels.clone()];
        let whole =
            evaluate(lesson.extended().network(), &SparseValues::all_values(&lessons.parameters), &inputs);
        let out = whole.value(lesson.extended().nodes.out);
        assert_eq!(
            bits(&out.data),
            bits(&all.data[first * all.shape.cols..(first + n_rows) * all.shape.cols])
        );
    }
}

#[test]
fn linear_models() {
    check(&Classroom::copy(), &[1, 1]);
    check(&Classroom::keep(), &[1, 1]);
    let csv = "a,b,y\n1,-1,1\n0,1,0\n-2,0,1\n1,1,0\n0,0,1\n";
    check(&Classroom::new(shipped("majority.tm"), csv, "fix:2.0"), &[2, 1]);
    check(&Classroom::new(shipped("mean.tm"), "x,y\n1,1\n2,2.25\n-3,2\n0.5,5\n", "fix:4.2"), &[1, 1]);
}

/// Copies all labels to theta, one after the other.
const COPY_ALL: &str = "
machine \"copy all labels\"
tape data: 0 1 blank 0 read-only
tape marks: _ x y e blank _ read-only
tape theta: 0 1 blank 0
start: begin

begin:
  * * * -> * * *, R R S, seek

seek:
  0 y * -> * * 0, R R R, copy
  1 y * -> * * 1, R R R, copy
  * e * -> * * *, S S S, done
  * * * -> * * *, R R S, seek

copy:
  0 _ * -> * * 0, R R R, copy
  1 _ * -> * * 1, R R R, copy
  * * * -> * * *, S S S, seek

done: accept
";

/// The first label becomes the bias of the first hidden unit, and everything else is 0: so is the output, whatever x is.
#[test]
fn copy_label_into_a_hidden_layer() {
    for kind in OUTSIDE {
        let csv = "a,b,y\n1,-1,1.5\n0,1,-2\n";
        let mut room = Classroom::new(shipped("copy_label.tm"), csv, "fix:3.1").on(kind, Carrier::Offset);
        room.primary = std::sync::Arc::new(Mlp::parse("mlp:2-3-1", 2, 1).expect("an mlp"));
        let lessons = room.proved();
        let mut theta = [0.0; 13];
        theta[0] = 1.5;
        assert_eq!(lessons.theta, theta);
        // 1/2 (1.5^2 + 2^2).
        assert!((lessons.train_loss - 3.125).abs() < 1e-12);
    }
}

/// Thirteen labels are the thirteen weights of 2-3-1.
#[test]
fn all_weights_of_a_hidden_layer() {
    let labels = [0.5, 1.0, -1.0, -0.5, 2.0, 1.5, 1.0, -2.0, 0.5, 0.5, 1.0, -1.5, 2.0];
    let rows: Vec<String> = labels.iter().enumerate().map(|(i, y)| format!("{},1,{y}", i % 3)).collect();
    let csv = format!("a,b,y\n{}\n", rows.join("\n"));
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let mut room = Classroom::new(written(COPY_ALL), &csv, "fix:3.1").on(kind, Carrier::Offset);
        room.primary = std::sync::Arc::new(Mlp::new(vec![2, 3, 1]));
        assert_eq!(room.primary.n_weights(), 13);
        check(&room, &[2, 3, 1]);
        let lessons = room.proved();
        assert_eq!(lessons.theta, labels);
        // x = (1, 2): hidden units 0.5 + 1 - 2 < 0, -0.5 + 2 + 3 = 4.5 and 1 - 2 + 1 = 0; output 0.5 - 1.5 * 4.5.
        let x = Values::new(Shape::new(1, 2), vec![1.0, 2.0]);
        assert_eq!(Predictor::new(&*room.primary, lessons.theta).predict(&x).data, [-6.25]);
    }
}
