//! A machine that learns: which of its tapes hold the data, the marks and theta.

use luge_machine::{
    Access, Input, Machine, SymbolId, TapeId, TapeInput,
    lowering::{Lowered, LoweringError, Moves, lower},
};

use super::layout::{DataLayout, Mark};

/// A machine TM(x, y) -> theta, lowered, with the parts its tapes play.
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

/// Why a machine is no learner.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LearnerError {
    /// A learner reads its data somewhere.
    #[error("the machine has no tape named `data` and more than one tape")]
    NoData,
    /// A learner writes its answer somewhere.
    #[error("the machine has a tape named `data` but none named `theta`")]
    NoTheta,
    /// Data and theta are bits.
    #[error("tape `{tape}` must have two symbols, the blank first; it has {found}")]
    NotBinary {
        /// The tape's name.
        tape: String,
        /// Its symbols.
        found: String,
    },
    /// Marks have fixed symbols.
    #[error("tape `marks` must be read-only with the symbols _ x y e, the blank first; it has {found}")]
    Marks {
        /// Its symbols.
        found: String,
    },
    /// Theta is written.
    #[error("tape `theta` is read-only")]
    ThetaReadOnly,
    /// The file's input already lies where the data go.
    #[error("the machine's file lays an input on tape `{tape}`, where the data go")]
    Occupied {
        /// The tape's name.
        tape: String,
    },
    /// No normal form.
    #[error(transparent)]
    Lowering(#[from] LoweringError),
}

impl Learner {
    /// Finds the parts by the tapes' names: `data` (bits, read), `marks` (read-only, optional) and `theta` (bits, written).
    /// A machine with a single tape of any name finds its data on it and leaves theta there, from cell 1 on.
    ///
    /// # Errors
    /// If a tape is missing or has other symbols than it needs.
    pub fn new(machine: &Machine, own_input: Option<&Input>) -> Result<Self, LearnerError> {
        let find = |name: &str| machine.tape_ids().find(|&tape| machine.tape(tape).name == name);
        let (data, theta, theta_first) = match (find("data"), find("theta")) {
            _ if machine.n_tapes() == 1 => (TapeId(0), TapeId(0), 1),
            (Some(data), Some(theta)) => (data, theta, 0),
            (None, _) => return Err(LearnerError::NoData),
            (Some(_), None) => return Err(LearnerError::NoTheta),
        };
        let marks = find("marks").filter(|_| machine.n_tapes() > 1);
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
                return Err(LearnerError::Marks { found: tape.alphabet.names().join(" ") });
            }
        }
        if machine.tape(theta).access == Access::ReadOnly {
            return Err(LearnerError::ThetaReadOnly);
        }
        let own_input = own_input.cloned().unwrap_or_default();
        for tape in [Some(data), marks].into_iter().flatten() {
            if own_input.tapes.get(tape.index()).is_some_and(|laid| *laid != TapeInput::default()) {
                return Err(LearnerError::Occupied { tape: machine.tape(tape).name.clone() });
            }
        }
        let lowered = lower(machine, Moves::Keep)?;
        Ok(Self { machine: machine.clone(), lowered, own_input, data, marks, theta, theta_first })
    }

    /// The machine as given.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine in normal form.
    #[must_use]
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The binary tape with the data.
    #[must_use]
    pub fn data_track(&self) -> TapeId {
        self.track(self.data)
    }

    /// The binary tape with theta, and the cell of its first bit.
    #[must_use]
    pub fn theta_track(&self) -> (TapeId, usize) {
        (self.track(self.theta), self.theta_first)
    }

    fn track(&self, tape: TapeId) -> TapeId {
        self.lowered.tracks(tape).next().expect("a tape has a track")
    }

    /// The normal form's input for these bits of data.
    #[must_use]
    pub fn input(&self, layout: &DataLayout, bits: &[bool]) -> Input {
        self.lowered.encode(&self.source_input(layout, bits))
    }

    /// The machine's own input for these bits of data.
    #[must_use]
    pub fn source_input(&self, layout: &DataLayout, bits: &[bool]) -> Input {
        let mut input = self.own_input.clone();
        input.tapes.resize(self.machine.n_tapes(), TapeInput::default());
        let marker = [SymbolId(1)];
        let bits = bits.iter().map(|&bit| SymbolId(u8::from(bit)));
        input.tapes[self.data.index()].symbols = marker.into_iter().chain(bits).collect();
        if let Some(marks) = self.marks {
            let mark = |cell| SymbolId::new(layout.mark(cell) as usize);
            input.tapes[marks.index()].symbols = (0..=layout.end()).map(mark).collect();
        }
        input
    }
}
