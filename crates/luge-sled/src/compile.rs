//! Core to machine.
//!
//! Memory is the tape `theta`: the weights first, then every other variable, each in its own run of cells with the lowest bit
//! first. The compiler knows where each head is at every point of the program, so no addresses are kept at run time.
//! Numbers are computed with on the tape `acc`; `product` takes products, dividends and return addresses. The read-only
//! tape `ruler` has a mark at each end of a word and ends every loop over bits; the read-only tape `table` holds a second
//! ruler for the outer loop of products and quotients, and the constants.

mod automaton;
mod conditions;
mod graph;
mod plan;
mod routines;
mod statements;
mod travel;
mod values;

use std::collections::BTreeMap;

use luge_machine::{BuildError, Input, Machine, SymbolId, TapeInput};

use crate::{Compiled, core::Core};
use automaton::{Pending, Pos};
use graph::{Graph, Node, Shape};
use plan::{Demand, Plan};
use routines::Routine;

/// Why a checked program has no machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BackendError {
    /// More states than a network could ever have.
    #[error("the machine would have more than {most} states")]
    TooManyStates {
        /// The most states a program may need.
        most: usize,
    },
    /// The parts do not make a valid machine.
    #[error("no machine can be made of the program: {0}")]
    Build(#[from] BuildError),
}

/// The most states before equal ones are merged.
const MOST_STATES: usize = 200_000;

/// A tape of the machine before unused ones are left out.
type Tape = usize;

const DATA: Tape = 0;
const MARKS: Tape = 1;
const MEMORY: Tape = 2;
const RULER: Tape = 3;
const TABLE: Tape = 4;
const ACC: Tape = 5;
const PRODUCT: Tape = 6;
const FIRST_OWN: Tape = 7;

/// The symbols of `marks`; the first is inside a number.
const FEATURE: u8 = 1;
const LABEL: u8 = 2;
const END: u8 = 3;

/// Makes the machine. The first of two rounds finds out what the rulers and the table must hold.
pub(crate) fn compile(core: &Core) -> Result<Compiled, BackendError> {
    let draft = Generator::new(core, Plan::default()).generate()?;
    let plan = Plan::new(&draft.demand);
    let generator = Generator::new(core, plan).generate()?;
    let mut graph = generator.graph;
    graph.shrink();
    assemble(core, &graph, &generator.plan)
}

struct Generator<'c> {
    core: &'c Core,
    plan: Plan,
    demand: Demand,
    graph: Graph,
    /// The state the next instruction begins in; it has no rules yet.
    cur: Node,
    line: u32,
    pos: Pos,
    pending: Option<Pending>,
    /// Widths of the slots: the program's, then temporaries.
    widths: Vec<u32>,
    free: BTreeMap<u32, Vec<usize>>,
    routines: BTreeMap<Routine, Vec<(Node, Node)>>,
    /// The divisor and the quotient's sign, by width.
    division: BTreeMap<u32, (usize, usize)>,
    reject: Option<Node>,
}

impl<'c> Generator<'c> {
    fn new(core: &'c Core, plan: Plan) -> Self {
        let mut graph = Graph::default();
        let cur = graph.add(0);
        Self {
            core,
            plan,
            demand: Demand::default(),
            graph,
            cur,
            line: 0,
            pos: Pos::default(),
            pending: None,
            widths: core.widths.clone(),
            free: BTreeMap::new(),
            routines: BTreeMap::new(),
            division: BTreeMap::new(),
            reject: None,
        }
    }

    fn generate(mut self) -> Result<Self, BackendError> {
        self.prologue();
        self.block(&self.core.body)?;
        let end = self.here();
        self.graph.finish(end, Shape::Accept);
        self.routine_bodies();
        self.check_size()?;
        Ok(self)
    }

    fn check_size(&self) -> Result<(), BackendError> {
        if self.graph.len() > MOST_STATES {
            return Err(BackendError::TooManyStates { most: MOST_STATES });
        }
        Ok(())
    }
}

/// Leaves out the tapes that nothing looks at and hands the rest to the machine model.
fn assemble(core: &Core, graph: &Graph, plan: &Plan) -> Result<Compiled, BackendError> {
    let used = graph.used_tapes();
    let keep: Vec<Tape> = (0..FIRST_OWN + core.tapes.len())
        .filter(|tape| [DATA, MEMORY].contains(tape) || used.contains(tape))
        .collect();
    let mut b = Machine::builder();
    b.name(&core.name);
    let mut input = Input::blank();
    for &tape in &keep {
        let binary = luge_machine::Alphabet::binary();
        let mut laid = Vec::new();
        match tape {
            DATA => b.read_only_tape("data", binary),
            MARKS => {
                let marks = luge_machine::Alphabet::new(["_", "x", "y", "e"], SymbolId(0));
                b.read_only_tape("marks", marks)
            }
            MEMORY => b.tape("theta", binary),
            RULER => {
                laid = plan.ruler.cells();
                b.read_only_tape("ruler", binary)
            }
            TABLE => {
                laid = plan.table_cells();
                b.read_only_tape("table", binary)
            }
            ACC => b.tape("acc", binary),
            PRODUCT => b.tape("product", binary),
            own => b.tape(format!("tape {}", core.tapes[own - FIRST_OWN]), binary),
        };
        let symbols = laid.into_iter().map(|bit| SymbolId(u8::from(bit))).collect();
        input.tapes.push(TapeInput { symbols, head: 0 });
    }
    let lines = graph.write(&mut b, &keep);
    Ok(Compiled { machine: b.build()?, input, lines, n_theta: core.n_theta })
}
