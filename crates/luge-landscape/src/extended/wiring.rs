//! Connects the data, the landscape and the primary network: puts the data's bits on the tapes and reads theta from them.

use luge_machine::{Input, TapeId};
use luge_net::{GraphBuilder, LinearMap, NodeId, Shape};

use super::{BitConversion, DataLayout, ExtendedError, ExtendedOptions, Learner, scale};
use crate::{
    BuildError, Configuration, LandscapeKind, LandscapeOptions, Primary,
    carved::{CarvedLandscape, StateEncoding},
    internal::{Configurations, Start},
    relu::relu_of,
    tapes::squared_distance,
};

/// Why data or theta do not fit into a network's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutsideCells {
    /// The data do not fit on the network's tapes.
    #[error("the data take cells 0 to {0}, outside the network's cells")]
    Data(usize),
    /// Theta would lie outside the network's tape.
    #[error(
        "theta has {n_weights} numbers of {n_bits} bits, {needed} cells, but the tape has only {available} from theta's first cell on"
    )]
    Theta {
        /// Numbers in theta.
        n_weights: usize,
        /// Bits per number.
        n_bits: usize,
        /// Cells needed.
        needed: usize,
        /// Cells there are.
        available: usize,
    },
}

/// The features and labels as one vector, in the order of the tape.
pub(crate) fn numbers_in_order(
    g: &mut GraphBuilder,
    layout: &DataLayout,
    features: NodeId,
    labels: NodeId,
) -> NodeId {
    let column = |g: &mut GraphBuilder, of: NodeId| {
        let n = g.shape(of).len();
        g.reshape("numbers", Shape::column(n), of)
    };
    let (features, labels) = (column(g, features), column(g, labels));
    let numbers = g.stack("numbers", features, labels);
    g.gather("numbers", layout.order(), numbers)
}

/// `1/2 |out - y|^2`.
pub(crate) fn least_squares(g: &mut GraphBuilder, out: NodeId, y: NodeId) -> NodeId {
    let (half, sum) = squared_distance(g, "residual", 0.5, out, y);
    g.affine("loss", half, sum, 0.0)
}

/// The landscape, and its read-only tapes, which hold constants and the bits of the data.
pub(super) fn carve(
    g: &mut GraphBuilder,
    learner: &Learner,
    primary: &dyn Primary,
    options: &ExtendedOptions,
    (bits, blank): (NodeId, &Configuration),
) -> Result<(CarvedLandscape, Option<NodeId>), ExtendedError> {
    let normal = &learner.lowered().normal;
    let constants = scale::with_room(normal.n_tapes(), primary, options).map_err(BuildError::Constants)?;
    let landscape = LandscapeOptions {
        vertices: options.vertices,
        constants,
        corrections: options.corrections,
        ..LandscapeOptions::new(options.kind, options.n_cells)
    };
    let layout = &options.layout;
    if options.kind == LandscapeKind::Internal {
        let declared: Vec<Configuration> = (0..1_u32 << layout.n_bits())
            .map(|word| options.window(learner).start(|bit| word >> bit & 1 == 1))
            .collect();
        let configurations =
            Configurations::reachable(normal, &declared, options.n_cells).map_err(BuildError::Internal)?;
        let vertices: Vec<usize> = declared.iter().map(|c| configurations.index[c]).collect();
        let matches = matching(g, layout.n_bits(), bits);
        let start = Start { declared: &vertices, matches };
        return Ok((CarvedLandscape::inside(g, configurations, &landscape, Some(start)), None));
    }
    let read_only = options.window(learner).read_only_tapes(g, blank, bits);
    let carved =
        CarvedLandscape::outside(g, normal, &landscape, Some(read_only)).map_err(ExtendedError::Build)?;
    Ok((carved, Some(read_only)))
}

/// `match_w = ReLU(sum_j bit_j(w) tape_j - (L - 1))` for every word w of L bits: 1 where it holds the data, else 0.
pub(super) fn matching(g: &mut GraphBuilder, n_bits: usize, bits: NodeId) -> NodeId {
    let n_words = 1_usize << n_bits;
    let sign = |word: usize, bit: usize| if word >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let entries = (0..n_words).flat_map(|word| (0..n_bits).map(move |bit| (word, bit, sign(word, bit))));
    let map = LinearMap::new(n_words, n_bits, entries).with_bias(vec![1.0 - n_bits as f64; n_words]);
    relu_of(g, "data match", map, bits)
}

/// Which cells of each tape a network has, and where the data are in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataWindow<'a> {
    pub(crate) learner: &'a Learner,
    pub(crate) layout: &'a DataLayout,
    pub(crate) n_cells: usize,
    pub(crate) first_cells: &'a [i64],
}

impl DataWindow<'_> {
    /// The network's cell for a cell of the machine's tape; `None` if the network does not have it.
    pub(crate) fn column(&self, tape: TapeId, cell: usize) -> Option<usize> {
        let offset = i64::try_from(cell).unwrap_or(i64::MAX) - self.first_cells[tape.index()];
        usize::try_from(offset).ok().filter(|&column| column < self.n_cells)
    }

    /// Checks that data and theta fit into the cells.
    pub(crate) fn check(&self, primary: &dyn Primary) -> Result<(), OutsideCells> {
        let (track, first) = self.learner.theta_track();
        let (n_weights, n_bits) = (primary.n_weights(), self.layout.width());
        let needed = n_weights * n_bits;
        let available = self.column(track, first).map_or(0, |from| self.n_cells - from);
        if needed > available {
            return Err(OutsideCells::Theta { n_weights, n_bits, needed, available });
        }
        let (data, end) = (self.learner.data_track(), self.layout.end());
        let inside = self.column(data, 0).is_some() && self.column(data, end).is_some();
        if inside { Ok(()) } else { Err(OutsideCells::Data(end)) }
    }

    /// The machine's start configuration for data with these bits.
    pub(crate) fn start(&self, bit: impl Fn(usize) -> bool) -> Configuration {
        let bits: Vec<bool> = (0..self.layout.n_bits()).map(bit).collect();
        let mut start = self.place(&self.learner.input(self.layout, &bits));
        start.tapes.iter_mut().for_each(|cells| cells.resize(self.n_cells, false));
        start
    }

    /// The machine's start configuration for data whose bits are all 0; blank cells at the end of a tape are left out.
    pub(crate) fn blank_start(&self) -> Configuration {
        self.place(&self.learner.input(self.layout, &vec![false; self.layout.n_bits()]))
    }

    /// The configuration for an input of the normal form; blank cells at the end of a tape are left out.
    fn place(&self, input: &Input) -> Configuration {
        let machine = self.learner.lowered().normal.machine();
        let (mut tapes, mut heads) = (Vec::new(), Vec::new());
        for tape in machine.tape_ids() {
            let input = input.tapes.get(tape.index());
            let symbols = input.map_or(&[][..], |input| &input.symbols).iter().enumerate();
            let mut cells = Vec::new();
            for column in symbols.filter(|(_, s)| s.0 == 1).filter_map(|(cell, _)| self.column(tape, cell)) {
                cells.resize(column, false);
                cells.push(true);
            }
            tapes.push(cells);
            let head = input.map_or(0, |input| input.head) - self.first_cells[tape.index()];
            heads.push(usize::try_from(head).unwrap_or(usize::MAX).min(self.n_cells - 1));
        }
        Configuration { state: machine.start(), tapes, heads }
    }

    /// tape_RO, one row for each read-only tape: the bits of the data in their cells, constants in all others.
    pub(crate) fn read_only_tapes(
        &self,
        g: &mut GraphBuilder,
        blank: &Configuration,
        bits: NodeId,
    ) -> NodeId {
        let normal = &self.learner.lowered().normal;
        let tapes = normal.machine().tape_ids().filter(|&tape| normal.read_only(tape));
        let (mut n_rows, mut places, mut ones) = (0, Vec::new(), Vec::new());
        for tape in tapes {
            let first = n_rows * self.n_cells;
            let place = |column| u32::try_from(first + column).expect("a layer of at most 2^32 units");
            n_rows += 1;
            if tape == self.learner.data_track() {
                let column = |bit: usize| self.column(tape, self.layout.cell(bit)).unwrap_or(0);
                places = (0..self.layout.n_bits()).map(|bit| place(column(bit))).collect();
            }
            let marked = blank.tapes[tape.index()].iter().enumerate().filter(|&(_, &one)| one);
            // Both are in ascending order.
            let mut data = places.iter().peekable();
            ones.extend(marked.map(|(column, _)| place(column)).filter(|one| {
                while data.next_if(|&data| data < one).is_some() {}
                data.peek() != Some(&one)
            }));
        }
        let shape = Shape::new(n_rows, self.n_cells);
        let map = LinearMap::placing(shape.len(), 1.0, places.clone())
            .with_bias_except(-1.0, vec![(0.0, places), (1.0, ones)]);
        let cells = g.linear("read_only", map, bits);
        g.reshape("read_only", shape, cells)
    }
}

/// theta = dequantize([output cells]).
pub(crate) fn read_theta(
    g: &mut GraphBuilder,
    window: DataWindow<'_>,
    primary: &dyn Primary,
    bits: BitConversion,
    encoding: &StateEncoding,
) -> NodeId {
    let (track, first) = window.learner.theta_track();
    let n_bits = primary.n_weights() * window.layout.width();
    let first = window.column(track, first).unwrap_or(0);
    let cells = match encoding {
        StateEncoding::Outside { control, weights } => {
            let first = control.row(track.index()) * window.n_cells + first;
            g.gather("theta bits", (first..first + n_bits).collect(), weights.tape)
        }
        StateEncoding::Inside { configurations, vertex_node, .. } => {
            let sign = |one: bool| if one { 1.0 } else { -1.0 };
            let entries = configurations.all.iter().enumerate().flat_map(|(v, configuration)| {
                let cells = &configuration.tapes[track.index()][first..first + n_bits];
                cells.iter().enumerate().map(move |(bit, &one)| (bit, v, sign(one)))
            });
            let map = LinearMap::new(n_bits, g.shape(*vertex_node).rows, entries);
            g.linear("theta bits", map, *vertex_node)
        }
    };
    let fixed = g.stop_gradient("[theta bits]", cells);
    bits.dequantize(g, window.layout.format, fixed)
}
