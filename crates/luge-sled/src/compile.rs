//! The compiler from core to a Turing machine.
//!
//! Theta, every other array and every variable have tapes of their own as long as there are tapes. The compiler knows
//! the position of each head at every point of the program, as a number of words that may depend on the counters of
//! the enclosing loops ([`position`]), so no addresses are stored at run time and no loop is unrolled. Arithmetic
//! is bit-serial ([`bit_serial`]): all operands pass under their heads at the same time, lowest bits first, and the
//! result is written in the same pass. Read-only tapes mark ends: rulers mark the ends of words, counters the ends
//! of loops. Products and quotients ([`product`], [`quotient`]) have their own tapes.

mod automaton;
mod bit_serial;
mod data;
mod graph;
mod lanes;
mod loops;
mod operands;
mod plan;
mod position;
mod product;
mod quotient;
mod statements;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::{BuildError, Input, MAX_TAPES, Machine, SymbolId, TapeId, TapeInput};

use crate::{
    Compiled, Variable,
    core::{
        Affine, Computed, Core, Expr, For, Index, Named, Op, Place, Shown, Slot, Stmt, StmtKind, Store,
        THETA, Ty,
    },
};
// The modules take these names from here.
use automaton::{Act, Track, View, Walker};
use bit_serial::{Kind, Operand, Pass, Sym, Tail, difference};
use graph::{Arrow, Graph, Node, Shape, n_symbols};
use lanes::{Crossing, Lane};
use loops::Loop;
use operands::{Target, comparison, is_word};
use plan::{Demand, END, FEATURE, LABEL, Object, Plan, Side, Tape, Want};
use position::{BranchEnd, First, Head, Pos, Spot, Walk};
use product::{Routine, Summand};

/// Why a checked program has no machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BackendError {
    /// More states than a network could ever have. Names the lines with the most states.
    #[error("the machine would have more than {MAX_STATES} states; the lines that cost most: {0}")]
    TooManyStates(String),
    /// The program needs this many tapes, more than a vertex can name.
    #[error(
        "the machine would have {0} binary tapes, but at most {MAX_TAPES} are supported: use fewer `tape`s, or nest fewer loops"
    )]
    TooManyTapes(usize),
    /// The result is not a valid machine.
    #[error("no machine can be made of the program: {0}")]
    Build(#[from] BuildError),
    /// There is no circuit.
    #[error(transparent)]
    Circuit(#[from] crate::CircuitCompileError),
}

/// What every step of the compiler returns.
type Built<T = ()> = Result<T, BackendError>;

/// The most states before equal ones are merged.
const MAX_STATES: usize = 200_000;

/// The state that rejects the data.
const REJECT: Node = 1;

/// The most attempts to find a plan with room for everything. Each plan is larger than the one before.
const MAX_PLANS: usize = 40;

/// Compiles a program. Drafts find out what rulers, counters and memory must hold.
pub(crate) fn compile(core: &Core) -> Result<Compiled, BackendError> {
    let mut plan = Plan::new(Demand::default(), core)?;
    for _ in 0..MAX_PLANS {
        let Generator { demand, mut graph, .. } = Generator::new(core, &plan).generate()?;
        if demand.without_weights() == plan.needs.without_weights() {
            graph.shrink();
            return assemble(core, &graph, &plan);
        }
        plan = Plan::new(demand, core)?;
    }
    Err(BackendError::TooManyTapes(MAX_TAPES + 1))
}

struct Generator<'c> {
    core: &'c Core,
    plan: &'c Plan,
    demand: Demand,
    graph: Graph,
    /// The node in which the next instruction begins; it has no rules yet.
    cur: Node,
    /// Whether no run gets here.
    dead: bool,
    line: u32,
    pos: Pos,
    /// Temporaries in use.
    taken: BTreeSet<usize>,
    /// Temporaries that hold a computed index that no head has followed yet.
    unwalked: BTreeSet<Slot>,
    /// The value of each loop variable in terms of counters.
    variables: BTreeMap<usize, Affine>,
    /// The enclosing loops, the innermost last.
    loops: Vec<Loop>,
    /// The number of counters in use.
    depth: usize,
    /// The number of enclosing loops over the data.
    data_depth: usize,
    /// Where the bodies that are being tried out first need each head.
    trials: Vec<First>,
    /// The same for bodies that were tried out before, by address.
    tried: BTreeMap<usize, First>,
    routines: BTreeMap<Routine, Vec<(Node, Node)>>,
}

impl<'c> Generator<'c> {
    fn new(core: &'c Core, plan: &'c Plan) -> Self {
        let mut graph = Graph::default();
        let cur = graph.add(0);
        graph.add(0);
        graph.entries[REJECT].shape = Shape::Reject;
        Self {
            core,
            plan,
            demand: plan.needs.without_weights(),
            graph,
            cur,
            dead: false,
            line: 0,
            pos: Pos::default(),
            taken: BTreeSet::new(),
            unwalked: BTreeSet::new(),
            variables: BTreeMap::new(),
            loops: Vec::new(),
            depth: 0,
            data_depth: 0,
            trials: Vec::new(),
            tried: BTreeMap::new(),
            routines: BTreeMap::new(),
        }
    }

    fn generate(mut self) -> Built<Self> {
        self.find_data();
        self.block(&self.core.body)?;
        let end = self.here();
        self.graph.entries[end].shape = Shape::Accept;
        self.routine_bodies();
        self.check_size()?;
        Ok(self)
    }

    fn check_size(&self) -> Built {
        if self.graph.entries.len() > MAX_STATES {
            return Err(BackendError::TooManyStates(self.graph.costly_lines()));
        }
        Ok(())
    }
}

/// Builds the machine without the tapes that it does not use.
fn assemble(core: &Core, graph: &Graph, plan: &Plan) -> Result<Compiled, BackendError> {
    let mut keep = graph.used_tapes();
    keep.extend([Tape::Data, Tape::Theta]);
    let keep: Vec<Tape> = keep.into_iter().collect();
    let needed = keep.len() + usize::from(keep.contains(&Tape::Marks));
    if needed > MAX_TAPES {
        return Err(BackendError::TooManyTapes(needed));
    }
    let mut b = Machine::builder();
    b.name(&core.name);
    let mut input = Input::blank();
    for &tape in &keep {
        let laid = plan.contents(tape);
        let name = tape.name(core);
        match tape {
            Tape::Marks => {
                b.read_only_tape(name, luge_machine::Alphabet::new(["_", "x", "y", "e"], SymbolId(0)))
            }
            _ if tape.is_read_only() => b.read_only_tape(name, luge_machine::Alphabet::binary()),
            _ => b.tape(name, luge_machine::Alphabet::binary()),
        };
        let symbols = laid.cells.into_iter().map(|bit| SymbolId(u8::from(bit))).collect();
        input.tapes.push(TapeInput { symbols, head: laid.head });
    }
    let lines = graph.write(&mut b, &keep);
    let n_theta = core.arrays.get(THETA).map_or(0, |theta| theta.length);
    let variables = variables(core, plan, &keep);
    Ok(Compiled { machine: b.build()?, input, lines, n_theta, takes: core.takes, variables })
}

/// The places of the program's variables on the tapes that are kept.
fn variables(core: &Core, plan: &Plan, keep: &[Tape]) -> Vec<Variable> {
    let place = |named: &Named| {
        let object = match named.store {
            Store::Slot(slot) => Object::Slot(slot),
            Store::Array(array) => Object::Array(array),
            Store::Data => return None,
        };
        let Spot { tape, pitch, at, .. } = plan.place(object)?;
        let first = usize::try_from(at.constant * i64::from(pitch)).ok()?;
        Some(Variable {
            name: named.name.clone(),
            tape: TapeId::new(keep.iter().position(|&kept| kept == tape)?),
            first,
            pitch: pitch as usize,
            width: named.ty.width(),
            fraction: (named.ty != Ty::BIT).then_some(named.ty.fraction),
            length: matches!(named.store, Store::Array(_)).then_some(named.length),
            lines: named.lines,
        })
    };
    core.names.iter().filter_map(place).collect()
}
