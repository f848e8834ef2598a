//! Learners: which tapes of a machine hold the data, the marks and theta.

use luge_machine::{
    Access, Input, Machine, SymbolId, TapeId, TapeInput,
    formats::Format,
    lowering::{Lowered, LoweringError, Moves, lower},
};

use super::layout::{DataLayout, Mark};

/// A machine TM(x, y) -> theta in normal form, and the roles of its tapes.
#[derive(Clone, Debug)]
pub struct Learner {
    machine: Machine,
    lowered: Lowered,
    own_input: Input,
    data: TapeId,
    marks: Option<TapeId>,
    theta: TapeId,
    theta_first: usize,
}

/// Why a machine is not a learner.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LearnerError {
    /// There is no data tape.
    #[error("the machine has no tape named `data` and more than one tape")]
    NoData,
    /// There is no theta tape.
    #[error("the machine has a tape named `data` but none named `theta`")]
    NoTheta,
    /// The data or theta tape is not binary.
    #[error("tape `{tape}` must have two symbols, the blank first; it has {found}")]
    NotBinary {
        /// The tape's name.
        tape: String,
        /// Its symbols.
        found: String,
    },
    /// The marks tape has other symbols, or is not read-only.
    #[error("tape `marks` must be read-only with the symbols _ x y e, the blank first; it has {0}")]
    Marks(String),
    /// The theta tape is read-only.
    #[error("tape `theta` is read-only")]
    ThetaReadOnly,
    /// The file has an input on a tape that the data use.
    #[error("the machine's file lays an input on tape `{0}`, where the data go")]
    Occupied(String),
    /// The machine has no normal form.
    #[error(transparent)]
    Lowering(#[from] LoweringError),
}

impl Learner {
    /// Finds the tapes by name: `data` (bits, read), `marks` (read-only, optional) and `theta` (bits, written). A machine
    /// with a single tape, of any name, has its data and theta on it, theta from cell 1 on.
    ///
    /// # Errors
    /// If a tape is missing or has other symbols than it needs.
    pub fn new(machine: &Machine, own_input: Option<&Input>) -> Result<Self, LearnerError> {
        let (data, theta, theta_first) = match (machine.find_tape("data"), machine.find_tape("theta")) {
            _ if machine.n_tapes() == 1 => (TapeId(0), TapeId(0), 1),
            (Some(data), Some(theta)) => (data, theta, 0),
            (None, _) => return Err(LearnerError::NoData),
            (Some(_), None) => return Err(LearnerError::NoTheta),
        };
        let marks = machine.find_tape("marks").filter(|_| machine.n_tapes() > 1);
        for tape in [data, theta] {
            let alphabet = &machine.tape(tape).alphabet;
            if alphabet.len() != 2 || alphabet.blank() != SymbolId(0) {
                let (tape, found) = (machine.tape(tape).name.clone(), alphabet.names().join(" "));
                return Err(LearnerError::NotBinary { tape, found });
            }
        }
        if let Some(tape) = marks.map(|marks| machine.tape(marks)) {
            let fits = tape.alphabet.names() == Mark::SYMBOLS && tape.alphabet.blank() == SymbolId(0);
            if !fits || tape.access != Access::ReadOnly {
                return Err(LearnerError::Marks(tape.alphabet.names().join(" ")));
            }
        }
        if machine.tape(theta).access == Access::ReadOnly {
            return Err(LearnerError::ThetaReadOnly);
        }
        let own_input = own_input.cloned().unwrap_or_default();
        for tape in [Some(data), marks].into_iter().flatten() {
            if own_input.tapes.get(tape.index()).is_some_and(|laid| *laid != TapeInput::default()) {
                return Err(LearnerError::Occupied(machine.tape(tape).name.clone()));
            }
        }
        let lowered = lower(machine, Moves::Keep)?;
        Ok(Self { machine: machine.clone(), lowered, own_input, data, marks, theta, theta_first })
    }

    /// The machine as given.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine and its own input, in the native format.
    pub fn native_text(&self) -> String {
        let input = (self.own_input != Input::default()).then_some(&self.own_input);
        Format::Native.write(&self.machine, input).unwrap_or_default()
    }

    /// The machine in normal form.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The binary tape with the data.
    pub fn data_track(&self) -> TapeId {
        self.track(self.data)
    }

    /// The binary tape with theta, and the cell of its first bit.
    pub fn theta_track(&self) -> (TapeId, usize) {
        (self.track(self.theta), self.theta_first)
    }

    fn track(&self, tape: TapeId) -> TapeId {
        self.lowered.tracks(tape).next().expect("a tape has a track")
    }

    /// The normal form's input for these bits of data.
    pub fn input(&self, layout: &DataLayout, bits: &[bool]) -> Input {
        self.lowered.encode(&self.source_input(layout, bits))
    }

    /// The machine's own input for these bits of data.
    pub fn source_input(&self, layout: &DataLayout, bits: &[bool]) -> Input {
        let mut input = self.own_input.clone();
        input.tapes.resize(self.machine.n_tapes(), TapeInput::default());
        let marker = [SymbolId(1)];
        let bits = bits.iter().map(|&bit| SymbolId(u8::from(bit)));
        input.tapes[self.data.index()].symbols = marker.into_iter().chain(bits).collect();
        if let Some(marks) = self.marks {
            let mark = |mark| SymbolId::new(mark as usize);
            input.tapes[marks.index()].symbols = layout.marks().into_iter().map(mark).collect();
        }
        input
    }
}

#[cfg(test)]
mod tests {
    use luge_machine::{Alphabet, Move, Pattern, Write};
    use luge_net::NumberFormat;

    use super::*;

    fn bits() -> Alphabet {
        Alphabet::binary()
    }

    fn named(names: &[&str]) -> Alphabet {
        Alphabet::new(names.iter().copied(), SymbolId(0))
    }

    /// A machine that halts after one step, with these tapes.
    fn machine(tapes: &[(&str, Alphabet, Access)]) -> Machine {
        let mut b = Machine::builder();
        for (name, alphabet, access) in tapes {
            b.tape_with(*name, alphabet.clone(), *access);
        }
        let (start, end) = (b.state("start"), b.halting_state("end", true));
        let n = tapes.len();
        b.rule(start, vec![Pattern::Any; n], vec![Write::Keep; n], vec![Move::Stay; n], end);
        b.build().unwrap()
    }

    fn refused(tapes: &[(&str, Alphabet, Access)]) -> String {
        Learner::new(&machine(tapes), None).unwrap_err().to_string()
    }

    const RO: Access = Access::ReadOnly;
    const RW: Access = Access::ReadWrite;

    #[test]
    fn tapes_are_found_by_name() {
        let machine =
            machine(&[("other", named(&["_", "a", "b"]), RW), ("theta", bits(), RW), ("data", bits(), RO)]);
        let learner = Learner::new(&machine, None).unwrap();
        // The first tape takes two tracks.
        assert_eq!(learner.theta_track(), (TapeId(2), 0));
        assert_eq!(learner.data_track(), TapeId(3));
    }

    #[test]
    fn a_single_tape_plays_both_parts() {
        let learner = Learner::new(&machine(&[("tape", bits(), RW)]), None).unwrap();
        assert_eq!(learner.theta_track(), (TapeId(0), 1));
        assert_eq!(learner.data_track(), TapeId(0));
    }

    #[test]
    fn a_tape_is_missing() {
        let missing = "the machine has no tape named `data` and more than one tape";
        assert_eq!(refused(&[("in", bits(), RO), ("theta", bits(), RW)]), missing);
        let missing = "the machine has a tape named `data` but none named `theta`";
        assert_eq!(refused(&[("data", bits(), RO), ("out", bits(), RW)]), missing);
    }

    #[test]
    fn data_and_theta_are_bits() {
        let three = named(&["0", "1", "2"]);
        assert_eq!(
            refused(&[("data", bits(), RO), ("theta", three, RW)]),
            "tape `theta` must have two symbols, the blank first; it has 0 1 2"
        );
        let blank_last = Alphabet::new(["1", "0"], SymbolId(1));
        assert_eq!(
            refused(&[("data", blank_last, RO), ("theta", bits(), RW)]),
            "tape `data` must have two symbols, the blank first; it has 1 0"
        );
    }

    #[test]
    fn marks_have_fixed_symbols() {
        let with = |alphabet, access| {
            refused(&[("data", bits(), RO), ("marks", alphabet, access), ("theta", bits(), RW)])
        };
        let message = "tape `marks` must be read-only with the symbols _ x y e, the blank first; it has";
        assert_eq!(with(named(&["_", "x", "y"]), RO), format!("{message} _ x y"));
        assert_eq!(with(named(&Mark::SYMBOLS), RW), format!("{message} _ x y e"));
        assert_eq!(with(Alphabet::new(Mark::SYMBOLS, SymbolId(1)), RO), format!("{message} _ x y e"));
    }

    #[test]
    fn theta_is_written() {
        assert_eq!(refused(&[("data", bits(), RO), ("theta", bits(), RO)]), "tape `theta` is read-only");
        assert_eq!(refused(&[("tape", bits(), RO)]), "tape `theta` is read-only");
    }

    #[test]
    fn nothing_else_lies_where_the_data_go() {
        let tapes = [("data", bits(), RO), ("marks", named(&Mark::SYMBOLS), RO), ("theta", bits(), RW)];
        let machine = machine(&tapes);
        let laid = |tape: usize| {
            let mut input = Input { tapes: vec![TapeInput::default(); 3] };
            input.tapes[tape].symbols = vec![SymbolId(1)];
            Learner::new(&machine, Some(&input)).map(|_| ()).map_err(|error| error.to_string())
        };
        let occupied =
            |tape| Err(format!("the machine's file lays an input on tape `{tape}`, where the data go"));
        assert_eq!(laid(0), occupied("data"));
        assert_eq!(laid(1), occupied("marks"));
        assert_eq!(laid(2), Ok(()));
    }

    #[test]
    fn a_learner_has_a_normal_form() {
        let mut b = Machine::builder();
        b.tape("tape", bits());
        b.halting_state("end", true);
        let refused = Learner::new(&b.build().unwrap(), None).unwrap_err();
        assert!(matches!(refused, LearnerError::Lowering(LoweringError::NotNormal(_))), "{refused:?}");
    }

    #[test]
    fn data_lie_behind_the_marker_beside_their_marks() {
        let tapes = [("data", bits(), RO), ("marks", named(&Mark::SYMBOLS), RO), ("theta", bits(), RW)];
        let learner = Learner::new(&machine(&tapes), None).unwrap();
        let format: NumberFormat = "fix:2.0".parse().unwrap();
        let layout = DataLayout { n_samples: 1, n_features: 1, n_labels: 1, format };
        let input = learner.source_input(&layout, &[false, true, true, false]);
        let symbols = |tape: usize| input.tapes[tape].symbols.iter().map(|s| s.0).collect::<Vec<_>>();
        assert_eq!(symbols(0), [1, 0, 1, 1, 0]);
        assert_eq!(symbols(1), [3, 1, 0, 2, 0, 3]);
        assert!(symbols(2).is_empty());
        assert!(input.tapes.iter().all(|tape| tape.head == 0));
    }
}
