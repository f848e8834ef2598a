//! Programs for the universal learner: other learners, encoded on a tape.
//!
//! `docs/universal.md` describes the encoding. The program affects only the initial weights, so one network can run every
//! learner that fits on its tape.

use luge_landscape::{Learner, LearnerError};
use luge_machine::{
    Access, Cell, Input, Machine, Move, Pattern, Rule, StateId, SymbolId, TapeId, TapeInput, Write,
};

/// The universal learner as a native file.
pub const MACHINE: &str = include_str!("../../learners/universal.tm");

/// The most cells of a program. It can be longer than its source, because jumps are in unary.
pub const MAX_CELLS: usize = 1 << 20;

/// The tape that holds a program.
const TAPE: &str = "program";

/// The initial position of that tape's head: on the blank before the program, so that the network starts in the same vertex and with
/// the same heads for every program.
const FIRST_HEAD: Cell = -1;

/// The symbols of a program in the order of its tape's alphabet. `;` ends a rule or, in place of a rule, a block. `.` reads any
/// symbol, keeps the symbol, or does not move. `0` and `1` are a bit, or a move to the left and to the right.
const SYMBOLS: &str = ";.01";

/// A learner in the encoding of the universal learner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The content of the tape from cell 0 on, a character for each symbol.
    pub signs: String,
}

/// Why a machine cannot become a program, or another machine cannot run it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// The machine is not a learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The universal learner has no tape for this one.
    #[error("a program has the tapes data, marks and theta and no other; this one has a tape `{0}`")]
    Tape(String),
    /// The data would be writable.
    #[error("tape `data` of a program must be read-only")]
    DataWritable,
    /// The universal learner starts programs on an empty theta.
    #[error("a program's file must not lay an input; this one lays one on tape `{0}`")]
    Laid(String),
    /// The encoding has one move for both heads.
    #[error("a program moves the heads of data and marks together; a rule of state `{0}` does not")]
    HeadsApart(String),
    /// Too many states, or too far apart.
    #[error("the program takes more than {MAX_CELLS} cells")]
    TooLong,
    /// The program's tape is missing.
    #[error(
        "the machine has no writable tape `program` with the symbols ; . 0 1 and blank ;, so it runs no programs"
    )]
    NotUniversal,
}

impl Program {
    /// Encodes a learner with the tapes `data`, `marks` (which may be left out) and `theta`.
    ///
    /// # Errors
    /// If the universal learner cannot do what the machine does.
    pub fn encode(machine: &Machine, own_input: Option<&Input>) -> Result<Self, ProgramError> {
        let tapes = ProgramTapes::find(machine)?;
        Learner::new(machine, None)?;
        if machine.tape(tapes.data).access != Access::ReadOnly {
            return Err(ProgramError::DataWritable);
        }
        let laid = own_input.map_or(&[][..], |input| &input.tapes);
        if let Some((_, tape)) =
            laid.iter().zip(machine.tapes()).find(|(laid, _)| **laid != TapeInput::default())
        {
            return Err(ProgramError::Laid(tape.name.clone()));
        }
        let others = machine.state_ids().filter(|&state| state != machine.start());
        let states: Vec<StateId> = std::iter::once(machine.start()).chain(others).collect();
        let mut blocks = vec![0; states.len()];
        for (block, state) in states.iter().enumerate() {
            blocks[state.index()] = block;
        }
        let mut program = Self { signs: String::new() };
        for (block, &state) in states.iter().enumerate() {
            if machine.halting(state) == Some(true) {
                program.signs.push_str(".;");
            }
            for rule in machine.rules(state) {
                let fields = tapes
                    .fields(rule)
                    .ok_or_else(|| ProgramError::HeadsApart(machine.state(state).name.clone()))?;
                program.signs.extend(fields);
                program.jump(block, blocks[rule.next.index()])?;
                program.signs.push(';');
            }
            program.signs.push(';');
        }
        if program.signs.len() > MAX_CELLS { Err(ProgramError::TooLong) } else { Ok(program) }
    }

    /// Encodes a jump from one block to another: n ones for n blocks to the right, or n + 1 zeros for n blocks to the left.
    fn jump(&mut self, from: usize, to: usize) -> Result<(), ProgramError> {
        let (sign, n) = if to > from { ('1', to - from) } else { ('0', from - to + 1) };
        if self.signs.len().saturating_add(n) > MAX_CELLS {
            return Err(ProgramError::TooLong);
        }
        self.signs.extend(std::iter::repeat_n(sign, n));
        Ok(())
    }

    /// Returns the universal learner's input with this program instead of the one in its file.
    ///
    /// # Errors
    /// If the machine has no tape for programs.
    pub fn load(&self, universal: &Machine, own_input: Option<&Input>) -> Result<Input, ProgramError> {
        let fits = |tape: &TapeId| {
            let tape = universal.tape(*tape);
            let symbols = tape.alphabet.names().iter().map(String::as_str);
            let blank = tape.alphabet.name(tape.alphabet.blank());
            tape.name == TAPE
                && tape.access == Access::ReadWrite
                && symbols.eq(SYMBOLS.matches(|_| true))
                && blank == ";"
        };
        let tape = universal.tape_ids().find(fits).ok_or(ProgramError::NotUniversal)?;
        let mut input = own_input.cloned().unwrap_or_default();
        let n_tapes = input.tapes.len().max(tape.index() + 1);
        input.tapes.resize(n_tapes, TapeInput::default());
        let symbols = self.signs.chars().filter_map(|sign| SYMBOLS.find(sign).map(SymbolId::new)).collect();
        input.tapes[tape.index()] = TapeInput { symbols, head: FIRST_HEAD };
        Ok(input)
    }
}

/// The tapes of a program by their roles.
struct ProgramTapes {
    data: TapeId,
    marks: Option<TapeId>,
    theta: TapeId,
}

impl ProgramTapes {
    fn find(machine: &Machine) -> Result<Self, ProgramError> {
        let data = machine.find_tape("data").ok_or(LearnerError::NoData)?;
        let theta = machine.find_tape("theta").ok_or(LearnerError::NoTheta)?;
        let marks = machine.find_tape("marks");
        let known = [Some(data), marks, Some(theta)];
        match machine.tape_ids().find(|&tape| !known.contains(&Some(tape))) {
            Some(tape) => Err(ProgramError::Tape(machine.tape(tape).name.clone())),
            None => Ok(Self { data, marks, theta }),
        }
    }

    /// Encodes a rule without its jump; `None` if the heads of data and marks move differently.
    fn fields(&self, rule: &Rule) -> Option<[char; 7]> {
        let digit = |bit: bool| if bit { '1' } else { '0' };
        let bit = |tape: TapeId, bit: u8| match rule.reads[tape.index()] {
            Pattern::Any => '.',
            Pattern::Is(symbol) => digit((symbol.0 >> bit) & 1 == 1),
        };
        let mark = |place: u8| self.marks.map_or('.', |marks| bit(marks, place));
        let write = match rule.writes[self.theta.index()] {
            Write::Keep => '.',
            Write::Put(symbol) => digit(symbol == SymbolId(1)),
        };
        let head = |tape: TapeId| rule.moves[tape.index()];
        if self.marks.is_some_and(|marks| head(marks) != head(self.data)) {
            return None;
        }
        let moves = [head(self.data), head(self.theta)].map(|head| match head {
            Move::Left => '0',
            Move::Stay => '.',
            Move::Right => '1',
        });
        Some([bit(self.data, 0), mark(1), mark(0), bit(self.theta, 0), write, moves[0], moves[1]])
    }
}

#[cfg(test)]
mod tests {
    use luge_machine::formats::Format;

    use super::*;

    const TAPES: &str = "\
        tape data: 0 1 blank 0 read-only\n\
        tape marks: _ x y e blank _ read-only\n\
        tape theta: 0 1 blank 0\n";

    fn encode(text: &str) -> Result<String, ProgramError> {
        let loaded = Format::Native.read(&format!("machine\n{text}")).expect("a machine");
        Program::encode(&loaded.machine, loaded.input.as_ref()).map(|program| program.signs)
    }

    fn refused(text: &str) -> String {
        encode(text).expect_err("not a program").to_string()
    }

    #[test]
    fn rules_become_fields_and_jumps() {
        let states = "no: reject\nb:\n * * * -> * * 1, S S L, a\n 0 e 0 -> * * *, S S S, b\n\
            a:\n 1 y * -> * * 0, L L S, b\n * x 1 -> * * *, R R R, yes\nyes: accept\n";
        // The start state comes first: a, no, b, yes.
        let program = encode(&format!("{TAPES}start: a\n{states}")).expect("a program");
        assert_eq!(program, ["110.00.11;.011.11111;;", ";", "....1.0000;0110...0;;", ".;;"].concat());
    }

    #[test]
    fn marks_may_be_left_out() {
        let states = "q:\n 1 0 -> 1 *, R L, yes\nyes: accept\n";
        let program = encode(&format!("tape theta: 0 1 blank 0\ntape data: 0 1 blank 0 read-only\n{states}"));
        assert_eq!(program.as_deref(), Ok("0..11011;;.;;"));
    }

    #[test]
    fn what_is_no_program() {
        let end = "yes: accept\n";
        let rule = |rule: &str| format!("q:\n {rule}\n{end}");
        assert_eq!(
            refused(&format!("{TAPES}tape own: a b blank a\n{}", rule("* * * * -> * * * *, S S S S, yes"))),
            "a program has the tapes data, marks and theta and no other; this one has a tape `own`"
        );
        assert_eq!(
            refused(&format!("{TAPES}{}", rule("* * * -> * * *, R S S, yes"))),
            "a program moves the heads of data and marks together; a rule of state `q` does not"
        );
        let fine = rule("* * * -> * * *, R R S, yes");
        assert_eq!(
            refused(&format!("{}{fine}", TAPES.replacen(" read-only", "", 1))),
            "tape `data` of a program must be read-only"
        );
        assert_eq!(
            refused(&format!("{TAPES}input theta: 1\n{fine}")),
            "a program's file must not lay an input; this one lays one on tape `theta`"
        );
        assert_eq!(
            refused(&format!("tape tape: 0 1 blank 0\n{}", rule("* -> *, R, yes"))),
            LearnerError::NoData.to_string()
        );
        assert_eq!(
            refused(&format!("{}{fine}", TAPES.replacen("0 1 blank 0", "0 1 2 blank 0", 1))),
            "tape `data` must have two symbols, the blank first; it has 0 1 2"
        );
    }

    #[test]
    fn a_program_has_an_end() {
        let n = 1_500;
        let state = |i: usize| format!("q{i}:\n * * * -> * * *, S S S, q{}\n", n - 1 - i);
        let states: String = (0..n).map(state).collect();
        assert_eq!(refused(&format!("{TAPES}{states}")), "the program takes more than 1048576 cells");
    }

    #[test]
    fn only_a_machine_with_a_tape_for_programs_runs_them() {
        let program = Program { signs: ";.;;".to_owned() };
        let load = |text: &str| program.load(&Format::Native.read(text).expect("a machine").machine, None);
        assert_eq!(load(MACHINE).map(|input| input.tapes[3].symbols.len()), Ok(4));
        let declared = "tape program: ; . 0 1 blank ;\n";
        let without_input = MACHINE.replacen("input program:", "# ", 1);
        for other in [
            "tape text: ; . 0 1 blank ;\n",
            "tape program: . ; 0 1 blank ;\n",
            "tape program: ; . 0 1 blank .\n",
            "tape program: ; . 0 1 blank ; read-only\n",
        ] {
            let found = load(&without_input.replacen(declared, other, 1));
            assert_eq!(found, Err(ProgramError::NotUniversal), "{other}");
        }
    }
}
