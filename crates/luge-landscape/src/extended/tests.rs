use luge_machine::{Alphabet, Machine, Move, Pattern::Any, Write::Keep};

use super::*;
use crate::{ConstantsError, InternalError, Mlp};

/// Data and theta, halting at once; the data can be writable.
fn two_tapes(writable_data: bool) -> Learner {
    let mut b = Machine::builder();
    if writable_data {
        b.tape("data", Alphabet::binary());
    } else {
        b.read_only_tape("data", Alphabet::binary());
    }
    b.tape("theta", Alphabet::binary());
    let (start, end) = (b.state("start"), b.halting_state("end", true));
    // Writing something makes the tape writable in the normal form as well.
    let write = if writable_data { luge_machine::Write::Put(luge_machine::SymbolId(0)) } else { Keep };
    b.rule(start, [Any, Any], [write, Keep], [Move::Stay, Move::Stay], end);
    Learner::new(&b.build().unwrap(), None).unwrap()
}

/// One tape, going right for ever or halting at once.
fn one_tape(halts: bool) -> Learner {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    let (start, end) = (b.state("start"), b.halting_state("end", true));
    b.rule(start, [Any], [Keep], [Move::Right], if halts { end } else { start });
    Learner::new(&b.build().unwrap(), None).unwrap()
}

/// Two samples of one feature and one label in two bits: cells 0 to 9 with both ends.
fn options(kind: LandscapeKind) -> ExtendedOptions {
    ExtendedOptions {
        kind,
        vertices: VertexSet::default(),
        carrier: Carrier::Offset,
        bits: BitConversion::default(),
        n_cells: 12,
        first_cells: vec![-1, -1],
        layout: DataLayout { n_samples: 2, n_features: 1, n_labels: 1, format: "fix:2.0".parse().unwrap() },
        label_offset: 0.0,
        final_loss: None,
        constants: ConstantOptions::default(),
        corrections: Corrections::default(),
    }
}

fn build(learner: &Learner, options: &ExtendedOptions) -> Result<Extended, ExtendedError> {
    Extended::build(learner, &Mlp::linear(options.layout.n_features, options.layout.n_labels), options)
}

fn refused(learner: &Learner, options: &ExtendedOptions) -> (ExtendedError, String) {
    let error = build(learner, options).unwrap_err();
    let message = error.to_string();
    (error, message)
}

#[test]
fn no_samples() {
    let mut options = options(LandscapeKind::Compact);
    options.layout.n_samples = 0;
    assert_eq!(
        refused(&two_tapes(false), &options),
        (ExtendedError::NoSamples, "the data have no samples".to_owned())
    );
}

#[test]
fn one_label_has_no_orthogonal_direction() {
    let mut options = options(LandscapeKind::Compact);
    options.layout.n_samples = 1;
    assert!(build(&two_tapes(false), &options).is_ok());
    options.carrier = Carrier::Orthogonal;
    assert_eq!(
        refused(&two_tapes(false), &options),
        (
            ExtendedError::OneLabel(1),
            "the orthogonal carrier needs at least two labels in all, the data have 1".to_owned()
        )
    );
}

#[test]
fn theta_does_not_fit() {
    let mut options = options(LandscapeKind::Compact);
    // Theta needs 2 numbers of 2 bits from cell 0 on; the network's tape begins at cell -8 and has 12 cells.
    options.first_cells = vec![-1, -8];
    assert!(build(&two_tapes(false), &options).is_ok());
    for (first, available) in [(-9, 3), (-20, 0), (1, 0)] {
        options.first_cells[1] = first;
        let (error, message) = refused(&two_tapes(false), &options);
        let theta = OutsideCells::Theta { n_weights: 2, n_bits: 2, needed: 4, available };
        assert_eq!(error, ExtendedError::Outside(theta));
        assert_eq!(
            message,
            format!(
                "theta has 2 numbers of 2 bits, 4 cells, but the tape has only {available} from theta's first cell on"
            )
        );
    }
}

#[test]
fn data_do_not_fit() {
    let mut options = options(LandscapeKind::Compact);
    // Cells 0 to 9 of a tape that begins at -2 are the network's 2 to 11.
    options.first_cells = vec![-2, -1];
    assert!(build(&two_tapes(false), &options).is_ok());
    for first in [-3, 1] {
        options.first_cells[0] = first;
        assert_eq!(
            refused(&two_tapes(false), &options),
            (
                ExtendedError::Outside(OutsideCells::Data(9)),
                "the data take cells 0 to 9, outside the network's cells".to_owned()
            )
        );
    }
}

#[test]
fn data_are_hidden_units_unless_they_are_inside_the_vertex() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let (error, message) = refused(&two_tapes(true), &options(kind));
        assert_eq!(error, ExtendedError::DataWritable { kind, tape: "data".to_owned() });
        let word = kind.word();
        assert_eq!(
            message,
            format!("landscape {word} needs the data on a read-only tape, but tape `data` is writable")
        );
    }
    assert!(build(&two_tapes(true), &options(LandscapeKind::Internal)).is_ok());
}

#[test]
fn too_many_bits_for_landscape_a() {
    let mut options = options(LandscapeKind::Internal);
    options.n_cells = 32;
    options.layout.n_samples = 3;
    assert_eq!(options.layout.n_bits(), MAX_BITS);
    assert!(build(&one_tape(true), &options).is_ok());
    options.layout.n_samples = 4;
    assert_eq!(
        refused(&one_tape(true), &options),
        (
            ExtendedError::TooManyBits(16),
            "landscape internal declares every content of the data's 16 bits, but at most 12 can be declared"
                .to_owned()
        )
    );
}

#[test]
fn what_the_landscape_refuses() {
    let (error, message) = refused(&one_tape(false), &options(LandscapeKind::Internal));
    assert_eq!(error, ExtendedError::Build(BuildError::Internal(InternalError::NeverHalts(12))));
    assert_eq!(message, "no declared input halts within 12 cells");
    let mut options = options(LandscapeKind::Compact);
    options.constants.scale = Some(-1.0);
    let (error, message) = refused(&two_tapes(false), &options);
    assert_eq!(error, ExtendedError::Build(BuildError::Constants(ConstantsError::Scale(-1.0))));
    assert_eq!(message, "scale -1 violates 0 < gamma < infinity");
}

/// The stopping level leaves room for every possible final loss: 1/2 * 2 * (2 (1 + 2) + 2)^2 = 64.
#[test]
fn the_stopping_level_is_above_every_final_loss() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let extended = build(&two_tapes(false), &options(kind)).unwrap();
        assert!(extended.bounds().stop >= 64.0, "{}: {}", kind.word(), extended.bounds().stop);
    }
    let extended = build(&one_tape(true), &options(LandscapeKind::Internal)).unwrap();
    assert!(extended.bounds().stop >= 64.0, "{}", extended.bounds().stop);
    let mut given = options(LandscapeKind::Compact);
    given.final_loss = Some(1.0);
    let extended = build(&two_tapes(false), &given).unwrap();
    assert!(extended.bounds().stop >= 1.0 && extended.bounds().stop < 64.0, "{}", extended.bounds().stop);
}

/// Exactly the word that equals the data matches.
#[test]
fn words_match_their_own_bits_only() {
    let mut g = GraphBuilder::new();
    let (_, bits) = g.input("bits", Shape::column(3));
    let matches = wiring::matching(&mut g, 3, bits);
    let sum = g.sum_all("sum", matches);
    let network = g.finish(sum);
    for word in 0..8_usize {
        let signs = (0..3).map(|bit| if word >> bit & 1 == 1 { 1.0 } else { -1.0 }).collect();
        let found = luge_net::evaluate(&network, &[], &[Values::column(signs)]);
        assert_eq!(found.value(matches), &Values::unit(8, word));
    }
}
