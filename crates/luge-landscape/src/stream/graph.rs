//! The graph of `stream`.

use luge_machine::SampleUse;
use luge_net::{
    GraphBuilder, LinearMap, Network, NodeId, Op, Parameter, ParameterId, Shape, StepRule, Values,
};

use super::{BITS, StreamConstants, StreamNetwork, StreamNodes, StreamOptions};
use crate::{
    Bounds, Control, DataLayout, LandscapeKind, Learner, Primary,
    carved::{CarvedLandscape, StateEncoding},
    extended::{DataWindow, axis, least_squares, numbers_in_order, read_theta},
    plain::{Next, halted, saturate_01, saturate_11},
    tapes::{Tapes, squared_distance},
};

/// The memory of a batch: X, its saturated copy, and X+.
struct SampleMemory {
    parameter: ParameterId,
    raw: NodeId,
    held: NodeId,
    read_only: NodeId,
}

/// `loss = 1/2 |out - y|^2`, where out is f_theta(x) once the machine has halted and
/// `A + (D - [D]) / A e_1 - [take] (z - [z])` before, with
///
/// `D = 1/2 |x - [x+]|^2 + 1/2 |read(T,[h]) - [write]|^2 + 1/2 |H - [move]|^2 + 1/2 |X - [X+]|^2 + (1 - [take]) / 2 |z + A|^2`.
pub(super) fn build(
    learner: &Learner,
    primary: &dyn Primary,
    options: &StreamOptions,
    constants: StreamConstants,
) -> StreamNetwork {
    let (mut graph, carrier) = (GraphBuilder::new(), constants.carrier);
    let g = &mut graph;
    let layout = &options.layout;
    let label_shape = Shape::new(layout.n_samples, layout.n_labels);
    let (_, x) = g.input("x", Shape::new(layout.n_samples, layout.n_features));
    let (_, y) = g.input("y", label_shape);
    let window = options.window(learner);
    let memory = sample_memory(g, window);
    let control = Control::new(&learner.lowered().normal, options.vertices, 1);
    let (n_cells, corrections) = (options.n_cells, &options.corrections);
    let tapes = Tapes { control: &control, corrections, n_cells, read_only: Some(memory.read_only) };
    let rule = StepRule::Gradient { rate: 1.0 };
    let weights = tapes.weights(g, rule, 1.0);
    let (labels, z) = g.parameter("labels", label_shape, rule);

    let vertex = saturate_01(g, "vertex", weights.vertex.1);
    let uses = g.linear("take, latch", sample_uses(learner, &control), vertex);
    let change = memory_change(g, layout, (x, z), uses, memory.held);
    let renew = |g: &mut GraphBuilder, cells: NodeId| {
        let fresh = fresh_cells(g, window, &control, change);
        g.sum("renewed tape", [(1.0, cells), (1.0, fresh)])
    };
    let next = Next::new(g, tapes, &weights, vertex, renew);
    let residuals = next.residuals(g, &weights);
    let mut terms = residuals.map(|(name, a, b)| squared_distance(g, name, 0.5, a, b)).to_vec();

    let next_memory = g.sum("next memory", [(1.0, memory.held), (1.0, change)]);
    let fixed_memory = g.stop_gradient("[next memory]", next_memory);
    terms.push(squared_distance(g, "memory residual", 0.5, memory.raw, fixed_memory));
    let take = g.gather("take", vec![0], uses);
    let take = g.stop_gradient("[take]", take);
    let idle = g.affine("1 - [take]", -1.0, take, 1.0);
    let away = g.affine("z + A", 1.0, z, carrier);
    let total = g.sum_of_squares("slot residual", away);
    terms.push((0.5, g.product("slot residual", idle, total)));
    let distance = g.sum("distance", terms);

    let encoding = StateEncoding::Outside { control: control.clone(), weights };
    let theta = read_theta(g, window, primary, BITS, &encoding);
    let first_primary = g.n_nodes();
    let prediction = primary.build(g, theta, x);
    let primary_nodes = first_primary..g.n_nodes();
    let running = carry(g, (distance, carrier), (z, take), label_shape);
    let halted = halted(g, &control, vertex);
    let out = g.select("out", halted, prediction, running);
    let loss = least_squares(g, out, y);
    let nodes = StreamNodes {
        features: x,
        targets: y,
        read_only: memory.read_only,
        uses,
        theta,
        primary: prediction,
        halted,
        out,
    };
    // There is no stopping rule: once the machine has halted, the gradient is zero for every batch.
    let bounds = Bounds::default();
    let carved = CarvedLandscape { kind: LandscapeKind::Plain, loss: distance, bounds, n_cells, encoding };
    let network = graph.finish(loss);
    let blank = |p: &Parameter| Values::filled(p.shape, -1.0);
    let mut initial: Vec<Values> = network.parameters().iter().map(blank).collect();
    initial[labels.index()].data.fill(-carrier);
    for (id, values) in carved.encode(&window.start(|_| false)).unwrap_or_default() {
        initial[id.index()] = values.to_values();
    }
    let memory = memory.parameter;
    StreamNetwork { network, nodes, constants, memory, labels, initial, carved, primary_nodes }
}

/// X, saturated, and as rows of the tapes.
fn sample_memory(g: &mut GraphBuilder, window: DataWindow<'_>) -> SampleMemory {
    let rule = StepRule::Gradient { rate: 1.0 };
    let (parameter, raw) = g.parameter("memory", Shape::column(window.layout.n_bits()), rule);
    let held = saturate_11(g, "memory", raw);
    let held = g.stop_gradient("[memory]", held);
    let read_only = window.read_only_tapes(g, &window.start(|_| false), held);
    SampleMemory { parameter, raw, held, read_only }
}

/// The read-only tapes for these weights of the memory.
pub(super) fn read_only(network: &Network, node: NodeId, memory: &Values) -> Values {
    let shape = network.node(node).shape;
    let Op::Reshape(cells) = network.node(node).op else { unreachable!("the memory is laid out in rows") };
    let Op::Linear(map, _) = &network.node(cells).op else { unreachable!("the memory is mapped to cells") };
    Values::new(shape, map.apply(&memory.data))
}

/// From the vertices to two units: whether the step takes, and whether it latches.
fn sample_uses(learner: &Learner, control: &Control) -> LinearMap {
    let machine = learner.lowered().normal.machine();
    let runs = |vertex: usize| control.table().column(vertex).is_some();
    let entries = (0..control.n_vertices()).filter(|&v| runs(v)).filter_map(|vertex| {
        match machine.state(control.state(vertex)).samples {
            SampleUse::Take => Some((0, vertex, 1.0)),
            SampleUse::Latch => Some((1, vertex, 1.0)),
            SampleUse::Pass => None,
        }
    });
    LinearMap::new(2, control.n_vertices(), entries.collect::<Vec<_>>())
}

/// `X+ - sat11(X)`: where the step takes, the bits of its x less those held; where it latches, those of -z; else 0.
fn memory_change(
    g: &mut GraphBuilder,
    layout: &DataLayout,
    (x, z): (NodeId, NodeId),
    uses: NodeId,
    held: NodeId,
) -> NodeId {
    let fixed = g.stop_gradient("[z]", z);
    let labels = g.affine("-[z]", -1.0, fixed, 0.0);
    let ordered = numbers_in_order(g, layout, x, labels);
    let bits = BITS.quantize(g, layout.format, ordered);
    let of_bit = |bit: usize| (bit, usize::from(!layout.is_feature(bit)), 1.0);
    let renewed = LinearMap::new(layout.n_bits(), 2, (0..layout.n_bits()).map(of_bit));
    let renewed = g.linear("renewed bits", renewed, uses);
    let difference = g.sum("fresh bits", [(1.0, bits), (-1.0, held)]);
    g.product("memory change", renewed, difference)
}

/// The memory's change as a change of the tapes.
fn fresh_cells(g: &mut GraphBuilder, window: DataWindow<'_>, control: &Control, change: NodeId) -> NodeId {
    let (data, n_bits) = (window.learner.data_track(), window.layout.n_bits());
    let row = control.row(data.index()) * window.n_cells;
    let of_bit = |bit: usize| Some((row + window.column(data, window.layout.cell(bit))?, bit, 1.0));
    let shape = Shape::new(control.n_tapes(), window.n_cells);
    let map = LinearMap::new(shape.len(), n_bits, (0..n_bits).filter_map(of_bit));
    let cells = g.linear("fresh cells", map, change);
    g.reshape("fresh cells", shape, cells)
}

/// `A + (D - [D]) / A e_1 - [take] (z - [z])`.
fn carry(
    g: &mut GraphBuilder,
    (distance, carrier): (NodeId, f64),
    (z, take): (NodeId, NodeId),
    shape: Shape,
) -> NodeId {
    let axis = axis(g, z, 0);
    let constant = g.constant("carrier", Values::filled(shape, carrier));
    let fixed = g.stop_gradient("[distance]", distance);
    let slope = g.sum("(D - [D]) / A", [(1.0 / carrier, distance), (-1.0 / carrier, fixed)]);
    let slope = g.product("(D - [D]) / A", slope, axis);
    let fixed = g.stop_gradient("[z]", z);
    let open = g.sum("z - [z]", [(1.0, z), (-1.0, fixed)]);
    let open = g.product("[take] (z - [z])", take, open);
    g.sum("running", [(1.0, constant), (1.0, slope), (-1.0, open)])
}
