//! A landscape as its users see it: a network, its constants, and the way between parameters and configurations.

use luge_machine::{Bits, NormalForm};
use luge_net::{Network, Shape, Values};

use crate::{
    AskedConstants, Configuration, ConstantsError, Control, Corrections, ExternalConstants, InternalError,
    PlainConstants, Undecodable, compact,
    configuration::{bit, one_hot},
    internal::{self, Configurations, Levels},
    plain, relu,
    tapes::Weights,
};

/// Which landscape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// B, product units.
    #[default]
    Compact,
    /// B, the paper's ReLU units.
    Relu,
    /// A, tape inside the vertex.
    Internal,
    /// C, stock gradient descent.
    Plain,
}

impl Kind {
    /// All landscapes.
    pub const ALL: [Self; 4] = [Self::Compact, Self::Relu, Self::Internal, Self::Plain];

    /// The landscape's name on the command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Relu => "relu",
            Self::Internal => "internal",
            Self::Plain => "plain",
        }
    }
}

/// What to build.
#[derive(Clone, Debug)]
pub struct LandscapeOptions {
    /// Which landscape.
    pub kind: Kind,
    /// tau: cells per tape.
    pub n_cells: usize,
    /// Constants the user wants.
    pub constants: AskedConstants,
    /// Landscape A only: the inputs it must serve.
    pub declared: Vec<Configuration>,
    /// What differs from the printed paper.
    pub corrections: Corrections,
}

impl LandscapeOptions {
    /// A landscape of this kind with chosen constants and all corrections.
    #[must_use]
    pub fn new(kind: Kind, n_cells: usize) -> Self {
        Self {
            kind,
            n_cells,
            constants: AskedConstants::default(),
            declared: Vec::new(),
            corrections: Corrections::default(),
        }
    }
}

/// Why a landscape cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BuildError {
    /// The user's constants violate an inequality.
    #[error(transparent)]
    Constants(#[from] ConstantsError),
    /// Landscape A is too large, or has nothing to trace.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// Where the loss must lie while the machine runs and once it has halted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The loss of a running machine is at least this.
    pub running_low: f64,
    /// The loss of a running machine is at most this.
    pub running_high: f64,
    /// The loss of a halted machine is at most this.
    pub halted_high: f64,
    /// Training stops at or below this level, which lies strictly between halted and running.
    pub stop: f64,
}

/// A network whose training traces a machine.
#[derive(Clone, Debug)]
pub struct Landscape {
    kind: Kind,
    network: Network,
    bounds: Bounds,
    n_tapes: usize,
    n_cells: usize,
    holds: Holds,
}

/// How the parameters hold a configuration.
#[derive(Clone, Debug)]
enum Holds {
    Outside { control: Control, weights: Weights },
    Inside { configurations: Configurations },
}

impl Landscape {
    /// Builds a landscape for a machine.
    ///
    /// # Errors
    /// If constants are violated or landscape A is too large.
    pub fn build(normal: &NormalForm, options: &LandscapeOptions) -> Result<Self, BuildError> {
        let n_tapes = normal.n_tapes();
        match options.kind {
            Kind::Compact | Kind::Relu => {
                let constants = ExternalConstants::choose(n_tapes, &options.constants)?;
                Ok(Self::external(normal, options, &constants))
            }
            Kind::Plain => {
                let constants = PlainConstants::choose(n_tapes, &options.constants)?;
                Ok(Self::plain(normal, options, &constants))
            }
            Kind::Internal => Ok(Self::internal(normal, options)?),
        }
    }

    /// Landscape B with any constants, checked or not: to see what happens where an inequality is violated.
    #[must_use]
    pub fn external(normal: &NormalForm, options: &LandscapeOptions, constants: &ExternalConstants) -> Self {
        let (n_tapes, n_cells) = (normal.n_tapes(), options.n_cells);
        let corrections = &options.corrections;
        let n_copies = if options.kind == Kind::Relu { corrections.n_copies as usize } else { 1 };
        let control = Control::new(normal, n_copies);
        let (network, weights) = match options.kind {
            Kind::Relu => relu::build(&control, n_cells, constants, corrections),
            _ => compact::build(&control, n_cells, constants, corrections),
        };
        let gap = constants.halting_gap(n_tapes);
        let bounds = Bounds {
            running_low: constants.offset,
            running_high: constants.offset + constants.running_height(n_tapes),
            halted_high: constants.offset - gap,
            stop: constants.offset - gap / 2.0,
        };
        let holds = Holds::Outside { control, weights };
        Self { kind: options.kind, network, bounds, n_tapes, n_cells, holds }
    }

    fn plain(normal: &NormalForm, options: &LandscapeOptions, constants: &PlainConstants) -> Self {
        let (n_tapes, n_cells) = (normal.n_tapes(), options.n_cells);
        let control = Control::new(normal, 1);
        let (network, weights) = plain::build(&control, n_cells, constants, &options.corrections);
        let PlainConstants { drop, offset } = *constants;
        let height = 1.0 + 3.0 * f64::from(u32::try_from(n_tapes).unwrap_or(u32::MAX));
        let bounds = Bounds {
            running_low: offset,
            running_high: offset + height,
            halted_high: offset - drop,
            stop: offset - drop / 2.0,
        };
        let holds = Holds::Outside { control, weights };
        Self { kind: Kind::Plain, network, bounds, n_tapes, n_cells, holds }
    }

    fn internal(normal: &NormalForm, options: &LandscapeOptions) -> Result<Self, InternalError> {
        let (n_tapes, n_cells) = (normal.n_tapes(), options.n_cells);
        let configurations = Configurations::reachable(normal, &options.declared, n_cells)?;
        let levels = Levels::new(&configurations);
        let (network, _) = internal::build(&configurations, &levels, &options.corrections);
        let bounds = Bounds {
            running_low: levels.floor + 1.0,
            running_high: levels.ceiling,
            halted_high: levels.floor,
            stop: levels.floor + 0.5,
        };
        let holds = Holds::Inside { configurations };
        Ok(Self { kind: Kind::Internal, network, bounds, n_tapes, n_cells, holds })
    }

    /// Which landscape it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The network to train.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Where the loss must lie.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// tau: cells per tape.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Number of vertices.
    #[must_use]
    pub fn n_vertices(&self) -> usize {
        match &self.holds {
            Holds::Outside { control, .. } => control.vertices().len(),
            Holds::Inside { configurations } => configurations.all.len(),
        }
    }

    /// The vertices of landscapes B and C; `None` for A, whose vertices are configurations.
    #[must_use]
    pub fn control(&self) -> Option<&Control> {
        match &self.holds {
            Holds::Outside { control, .. } => Some(control),
            Holds::Inside { .. } => None,
        }
    }

    /// The configuration a vertex of landscape A stands for.
    #[must_use]
    pub fn configuration(&self, vertex: usize) -> Option<&Configuration> {
        match &self.holds {
            Holds::Outside { .. } => None,
            Holds::Inside { configurations } => configurations.all.get(vertex),
        }
    }

    /// The parameters and inputs that stand for a configuration; `None` if landscape A has no such vertex.
    ///
    /// # Panics
    /// If the configuration has other numbers of tapes or cells than the landscape.
    #[must_use]
    pub fn encode(&self, configuration: &Configuration) -> Option<(Vec<Values>, Vec<Values>)> {
        assert_eq!(configuration.tapes.len(), self.n_tapes, "another number of tapes");
        assert!(configuration.tapes.iter().all(|t| t.len() == self.n_cells), "another number of cells");
        match &self.holds {
            Holds::Inside { configurations } => {
                let vertex = *configurations.index.get(configuration)?;
                Some((vec![Values::unit(configurations.all.len(), vertex)], Vec::new()))
            }
            Holds::Outside { control, weights } => Some(self.encode_outside(control, weights, configuration)),
        }
    }

    fn encode_outside(
        &self,
        control: &Control,
        weights: &Weights,
        configuration: &Configuration,
    ) -> (Vec<Values>, Vec<Values>) {
        let n_writable = control.n_writable();
        let mut writable = Values::filled(Shape::new(n_writable, self.n_cells), -1.0);
        let mut read_only = Values::filled(Shape::new(self.n_tapes - n_writable, self.n_cells), -1.0);
        let mut head = Values::filled(Shape::new(self.n_tapes, self.n_cells), 0.0);
        for (tape, (cells, &at)) in configuration.tapes.iter().zip(&configuration.heads).enumerate() {
            let row = control.row(tape);
            *head.at_mut(row, at) = 1.0;
            for (cell, _) in cells.iter().enumerate().filter(|&(_, &one)| one) {
                match row.checked_sub(n_writable) {
                    None => *writable.at_mut(row, cell) = 1.0,
                    Some(row) => *read_only.at_mut(row, cell) = 1.0,
                }
            }
        }
        let vertex = control.vertex(configuration.state, configuration.reads());
        let mut parameters = vec![Values::unit(control.vertices().len(), vertex)];
        parameters.extend(weights.writable.map(|_| writable));
        parameters.push(head);
        (parameters, weights.read_only.map(|_| read_only).into_iter().collect())
    }

    /// The configuration that parameters stand for: every weight must be clearly one of the values it can have.
    ///
    /// # Errors
    /// The first weight that is in between, or a vertex whose symbols are not those under the heads.
    pub fn decode(&self, parameters: &[Values], inputs: &[Values]) -> Result<Configuration, Undecodable> {
        let vertex =
            one_hot(&parameters[0].data).map_err(|(index, value)| Undecodable::Vertex { index, value })?;
        match &self.holds {
            Holds::Inside { configurations } => Ok(configurations.all[vertex].clone()),
            Holds::Outside { control, weights } => {
                let head = &parameters[weights.head.0.index()];
                let mut tapes = Vec::with_capacity(self.n_tapes);
                let mut heads = Vec::with_capacity(self.n_tapes);
                for tape in 0..self.n_tapes {
                    let row = control.row(tape);
                    let cells = match row.checked_sub(control.n_writable()) {
                        None => weights.writable.map_or(&[][..], |id| parameters[id.index()].row(row)),
                        Some(row) => weights.read_only.map_or(&[][..], |id| inputs[id.index()].row(row)),
                    };
                    let cell = |(cell, &value): (usize, &f64)| {
                        bit(value).ok_or(Undecodable::Cell { tape, cell, value })
                    };
                    tapes.push(cells.iter().enumerate().map(cell).collect::<Result<Vec<_>, _>>()?);
                    let at = one_hot(head.row(row)).map_err(|(cell, value)| Undecodable::Head {
                        tape,
                        cell,
                        value,
                    })?;
                    heads.push(at);
                }
                let vertex = &control.vertices()[vertex];
                let configuration = Configuration { state: vertex.state, tapes, heads };
                match differing(vertex.reads, configuration.reads()) {
                    Some(tape) => Err(Undecodable::Symbol { tape }),
                    None => Ok(configuration),
                }
            }
        }
    }
}

fn differing(a: Bits, b: Bits) -> Option<usize> {
    (a != b).then(|| (a.0 ^ b.0).trailing_zeros() as usize)
}
