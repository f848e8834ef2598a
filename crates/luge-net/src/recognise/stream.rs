//! Networks that learn from a stream: targets as in `targets.rs`, a memory of one batch, a slot for labels, and a carrier.

use std::sync::Arc;

use super::{
    Unrecognised, inputs,
    tapes::{self, Rows, StepNodes},
    targets::{level_of_rest, raw_cells, saturated_01, saturated_11, successor_nodes},
    walk::{Found, Walk, same},
};
use crate::{InputId, LinearMap, NodeId, NumberFormat, Op, ParameterId, Values, VertexTable};

/// When a bit of the memory is renewed, or what a vertex does with the batch that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BitUse {
    /// Never.
    #[default]
    Keep,
    /// Where a batch is taken.
    Take,
    /// Where labels are latched.
    Latch,
}

/// The layers of a network that learns from a stream. All weights move with rate 1.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamLayers {
    /// The arcs of the vertices.
    pub table: Arc<VertexTable>,
    /// The weights on the vertices.
    pub vertex: ParameterId,
    /// The cells that are weights.
    pub cells: ParameterId,
    /// The heads.
    pub head: ParameterId,
    /// The memory of one batch.
    pub memory: ParameterId,
    /// The slot for labels.
    pub labels: ParameterId,
    /// The features of the batch that passes.
    pub features: InputId,
    /// Its labels.
    pub targets: InputId,
    /// A: what the network outputs while it runs, and minus what the slot holds while it is ready.
    pub carrier: f64,
    /// The weight of the distance in the output: 1 / A.
    pub gain: f64,
    /// How numbers become bits of the memory.
    pub format: NumberFormat,
    /// For every number of the memory, its position among all features followed by all labels.
    pub order: Vec<usize>,
    /// When each bit of the memory is renewed.
    pub renewed: Vec<BitUse>,
    /// What each vertex does with the batch that passes.
    pub uses: Vec<BitUse>,
    /// The cells of the rows that are not weights, 0 where a bit of the memory lies.
    pub fixed_cells: Values,
    /// For every bit of the memory its position among those cells, row by row.
    pub places: Vec<usize>,
    /// The output once the vertex is at rest. It depends on no weights but cells and memory, and has no gradient.
    pub primary: NodeId,
}

/// What the carrier shows: the distance D, the slot z, whether a batch is taken, and A.
struct Carried {
    distance: NodeId,
    slot: NodeId,
    take: NodeId,
    carrier: f64,
    gain: f64,
}

/// What changes the memory: the bits, what gates them, and the copy of the memory they are compared with.
struct Change {
    held: NodeId,
    uses: NodeId,
    slot: NodeId,
    features: NodeId,
    bits: NodeId,
    format: NumberFormat,
    order: Vec<usize>,
    renewed: Vec<BitUse>,
}

/// Reads the whole network from its loss on.
pub(super) fn read(walk: &Walk<'_>) -> Result<StreamLayers, Unrecognised> {
    let loss = walk.network().loss();
    let total = walk.affine_of(loss, (0.5, 0.0), "half a sum of squares")?;
    let (out, y) = walk.squared_distance(total, "the squared distance of the output from the labels")?;
    let Op::Select { condition, positive: primary, otherwise } = *walk.op(out) else {
        return walk.refuse(out, "a choice between the primary network and the carrier");
    };
    let rest = walk.stopped(condition, "the weight at rest under a stop-gradient")?;
    let (table, at_rest, saturated) = level_of_rest(walk, rest)?;
    walk.require(same(at_rest, 1.0), rest, "the weight at rest")?;
    let x = saturated_01(walk, saturated)?;
    let carried = carrier(walk, otherwise)?;

    let expected = "five halved residuals: vertices, cells, heads, memory and slot";
    let [vertex, write, shift, memory, slot] = *walk.sum(carried.distance, expected)? else {
        return walk.refuse(carried.distance, expected);
    };
    let halved = [vertex, write, shift, memory, slot].iter().all(|&(weight, _)| same(weight, 0.5));
    walk.require(halved, carried.distance, expected)?;
    slot_residual(walk, slot.1, &carried)?;

    let stop = "under a stop-gradient";
    let (found_x, fixed_successor) = walk.squared_distance(vertex.1, "vertices less the next")?;
    walk.require(found_x == x, vertex.1, "the vertices less the next")?;
    let (under, fixed_write) = walk.squared_distance(write.1, "cells less what is written")?;
    let (raw_head, fixed_moved) = walk.squared_distance(shift.1, "heads less moved ones")?;
    let (raw_memory, fixed_memory) = walk.squared_distance(memory.1, "the memory less the next")?;
    let (raw, head) = raw_cells(walk, under, raw_head)?;
    let (ahead, symbols_of) = successor_nodes(walk, walk.stopped(fixed_successor, stop)?, table)?;
    walk.require(symbols_of == saturated, fixed_successor, "the vertex that follows")?;
    let (held, change) =
        walk.pair(walk.stopped(fixed_memory, stop)?, (1.0, 1.0), "the memory and its change")?;
    let copy = walk.stopped(held, stop)?;
    walk.require(saturated_11(walk, copy)? == raw_memory, copy, "a saturated copy of the memory")?;

    let (read, renewed, fresh) = renewed_cells(walk, ahead, (raw, head))?;
    let rows = Rows { vertex: saturated, cells: renewed, head };
    let (next, moved) = (walk.stopped(fixed_write, stop)?, walk.stopped(fixed_moved, stop)?);
    tapes::check_table(walk, loss, table, [raw, raw_head])?;
    tapes::step(walk, table, &rows, &StepNodes { read, next, moved, ahead })?;

    let all = tapes::cells(walk, raw, table)?;
    let (Some((cells, rate)), Some(fixed)) = (all.trained, all.fixed) else {
        return walk.refuse(raw, "cells that are weights, then the memory's");
    };
    walk.require(same(rate, 1.0), raw, "weights that move with rate 1")?;
    let (fixed_cells, places) = memory_cells(walk, fixed, held)?;
    check_fresh(walk, fresh, change, (&places, table.n_trained() * fixed_cells.shape.cols))?;
    let change = memory_change(walk, change)?;
    walk.require(change.held == held && change.slot == carried.slot, loss, "a memory renewed from its slot")?;
    let uses = vertex_uses(walk, change.uses, saturated)?;
    check_take(walk, carried.take, change.uses)?;

    let unit = |node: NodeId| walk.unit_rate(node, "weights that move with rate 1");
    let batch = "numbers of the batch";
    let layers = StreamLayers {
        table: Arc::clone(table),
        vertex: unit(x)?,
        cells,
        head: unit(raw_head)?,
        memory: unit(raw_memory)?,
        labels: unit(carried.slot)?,
        features: walk.input(change.features, batch)?,
        targets: walk.input(y, batch)?,
        carrier: carried.carrier,
        gain: carried.gain,
        format: change.format,
        order: change.order,
        renewed: change.renewed,
        uses,
        fixed_cells,
        places,
        primary,
    };
    check_reach(walk, (out, primary), &layers, (change.features, change.bits))?;
    Ok(layers)
}

/// Labels and features go where they may, the primary network sees what it may, and all weights are known.
fn check_reach(
    walk: &Walk<'_>,
    (out, primary): (NodeId, NodeId),
    layers: &StreamLayers,
    (features, bits): (NodeId, NodeId),
) -> Found<()> {
    // An engine is handed features, then labels: a memory that is filled from the labels' input would see what it must not.
    let in_order = (layers.features.index(), layers.targets.index()) == (0, 1);
    walk.require(in_order, features, "the first input")?;
    inputs::confined(walk, out, layers.targets.index(), &[bits, primary])?;
    let allowed = [Some(layers.cells), Some(layers.memory)];
    walk.depends_only_on(primary, &allowed, "an output that depends on cells and memory alone")?;
    walk.has_no_gradient(primary, "an output without a gradient")?;
    let known = [layers.vertex, layers.cells, layers.head, layers.memory, layers.labels];
    match walk.network().parameter_ids().find(|id| !known.contains(id)) {
        Some(other) => walk.refuse_parameter(other, "vertex, cells, heads, memory or labels"),
        None => Ok(()),
    }
}

/// `A + (D - [D]) / A e_1 - [take] (z - [z])`.
fn carrier(walk: &Walk<'_>, node: NodeId) -> Found<Carried> {
    let expected = "a carrier, a distance and an open slot";
    let [(a, constant_node), (b, slope), (c, open)] = *walk.sum(node, expected)? else {
        return walk.refuse(node, expected);
    };
    walk.require(same(a, 1.0) && same(b, 1.0) && same(c, -1.0), node, expected)?;
    let values = &walk.constant(constant_node, "a constant carrier")?.data;
    let carrier = walk.finite(values.first().copied().unwrap_or(f64::NAN), constant_node)?;
    walk.require(values.iter().all(|&v| same(v, carrier)), constant_node, "a constant carrier")?;
    let (slope, axis) = walk.product(slope, "a distance on the first entry")?;
    let axis_values = &walk.constant(axis, "the first entry")?.data;
    let first = axis_values.iter().enumerate().all(|(i, &v)| same(v, f64::from(u8::from(i == 0))));
    walk.require(first, axis, "the first entry")?;
    let expected = "a distance less itself, divided by the carrier";
    let [(gain, distance), (minus, fixed)] = *walk.sum(slope, expected)? else {
        return walk.refuse(slope, expected);
    };
    let divided =
        same(gain, 1.0 / carrier) && same(minus, -gain) && walk.stopped(fixed, expected)? == distance;
    walk.require(divided, slope, expected)?;
    let (take, difference) = walk.product(open, "a slot that opens where a batch is taken")?;
    let (slot, fixed) = walk.pair(difference, (1.0, -1.0), "the slot less itself")?;
    walk.require(walk.stopped(fixed, "the slot, fixed")? == slot, difference, "the slot less itself")?;
    Ok(Carried { distance, slot, take, carrier, gain })
}

/// `(1 - [take]) |z + A|^2`.
fn slot_residual(walk: &Walk<'_>, node: NodeId, carried: &Carried) -> Found<()> {
    let expected = "the slot's distance from minus the carrier, where no batch is taken";
    let (idle, total) = walk.product(node, expected)?;
    let take = walk.affine_of(idle, (-1.0, 1.0), expected)?;
    let away = walk.squares(total, expected)?;
    let slot = walk.affine_of(away, (1.0, carried.carrier), expected)?;
    walk.require(take == carried.take && slot == carried.slot, node, expected)
}

/// What will be read, from the cells after the memory's change: what is read now, the renewed cells, and the change.
fn renewed_cells(
    walk: &Walk<'_>,
    ahead: NodeId,
    (raw, head): (NodeId, NodeId),
) -> Found<(NodeId, NodeId, NodeId)> {
    let (renewed, read) = tapes::read_ahead(walk, ahead)?;
    let (copy, fresh) = walk.pair(renewed, (1.0, 1.0), "the cells with a renewed memory")?;
    walk.require(saturated_11(walk, copy)? == raw, copy, "a saturated copy of the cells")?;
    tapes::read(walk, read, (copy, head))?;
    Ok((read, renewed, fresh))
}

/// A map that puts every input with weight 1 into one output of its own: these outputs.
fn places_of(map: &LinearMap) -> Option<Vec<usize>> {
    let mut places = vec![None; map.n_inputs()];
    for &(row, col, weight) in map.entries().iter() {
        let place = &mut places[col as usize];
        if place.is_some() || !same(weight, 1.0) {
            return None;
        }
        *place = Some(row as usize);
    }
    let places: Vec<usize> = places.into_iter().collect::<Option<_>>()?;
    let mut sorted = places.clone();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1]).then_some(places)
}

/// The rows that are not weights: constants, and the memory's bits in places of their own.
fn memory_cells(walk: &Walk<'_>, node: NodeId, held: NodeId) -> Found<(Values, Vec<usize>)> {
    let expected = "rows of constants and of the memory's bits";
    let cells = walk.reshaped(node, expected)?;
    let (map, of) = walk.linear(cells, expected)?;
    walk.require(of == held, cells, expected)?;
    let Some(places) = places_of(map) else { return walk.refuse(cells, expected) };
    let fixed = Values::new(walk.shape(node), map.bias().into_owned());
    let mut of_memory = vec![false; fixed.data.len()];
    places.iter().for_each(|&place| of_memory[place] = true);
    let is_sign = |(i, &v): (usize, &f64)| if of_memory[i] { same(v, 0.0) } else { same(v.abs(), 1.0) };
    walk.require(fixed.data.iter().enumerate().all(is_sign), cells, expected)?;
    Ok((fixed, places))
}

/// The memory's change, laid over the same cells.
fn check_fresh(
    walk: &Walk<'_>,
    node: NodeId,
    change: NodeId,
    (places, offset): (&[usize], usize),
) -> Found<()> {
    let expected = "the memory's change in its cells";
    let cells = walk.reshaped(node, expected)?;
    let (map, of) = walk.linear(cells, expected)?;
    let Some(found) = places_of(map) else { return walk.refuse(cells, expected) };
    let alike = found.iter().zip(places).all(|(&found, &place)| found == offset + place);
    let unbiased = map.same_bias().is_some_and(|bias| same(bias, 0.0));
    walk.require(of == change && alike && unbiased && found.len() == places.len(), cells, expected)
}

/// `renewed (bits - held)`.
fn memory_change(walk: &Walk<'_>, node: NodeId) -> Found<Change> {
    let (gate, difference) = walk.product(node, "the memory's change")?;
    let (map, uses) = walk.linear(gate, "the bits that are renewed")?;
    let renewed = bit_uses(map, map.n_outputs(), |row, col| (row, col)).filter(|_| map.n_inputs() == 2);
    let Some(renewed) = renewed else { return walk.refuse(gate, "the bits that are renewed") };
    let (bits, held) = walk.pair(difference, (1.0, -1.0), "fresh bits less the memory")?;
    let expected = "the bits of features and labels";
    let Op::Quantize(format, ordered) = walk.op(bits) else { return walk.refuse(bits, expected) };
    let Op::Gather(order, numbers) = walk.op(*ordered) else { return walk.refuse(*ordered, expected) };
    let Op::Stack(upper, lower) = *walk.op(*numbers) else { return walk.refuse(*numbers, expected) };
    let fixed = walk.affine_of(walk.reshaped(lower, expected)?, (-1.0, 0.0), "minus the slot")?;
    let slot = walk.stopped(fixed, "the slot, fixed")?;
    let features = walk.reshaped(upper, expected)?;
    Ok(Change { held, uses, slot, features, bits, format: *format, order: order.clone(), renewed })
}

/// At most one of two units, take and latch, for each of `n` others; `ends` tells the other end of an arc from the unit's.
fn bit_uses(map: &LinearMap, n: usize, ends: fn(u32, u32) -> (u32, u32)) -> Option<Vec<BitUse>> {
    let mut uses = vec![BitUse::Keep; n];
    for &(row, col, weight) in map.entries().iter() {
        let (other, unit) = ends(row, col);
        let place = &mut uses[other as usize];
        if *place != BitUse::Keep || !same(weight, 1.0) {
            return None;
        }
        *place = if unit == 0 { BitUse::Take } else { BitUse::Latch };
    }
    map.same_bias().is_some_and(|bias| same(bias, 0.0)).then_some(uses)
}

/// What each vertex does with the batch.
fn vertex_uses(walk: &Walk<'_>, node: NodeId, saturated: NodeId) -> Found<Vec<BitUse>> {
    let expected = "whether the vertices take or latch";
    let (map, of) = walk.linear(node, expected)?;
    walk.require(of == saturated && map.n_outputs() == 2, node, expected)?;
    bit_uses(map, map.n_inputs(), |row, col| (col, row)).map_or_else(|| walk.refuse(node, expected), Ok)
}

/// The fixed unit that says whether a batch is taken.
fn check_take(walk: &Walk<'_>, take: NodeId, uses: NodeId) -> Found<()> {
    let expected = "whether a batch is taken, under a stop-gradient";
    match walk.op(walk.stopped(take, expected)?) {
        Op::Gather(positions, of) if *positions == [0] && *of == uses => Ok(()),
        _ => walk.refuse(take, expected),
    }
}
