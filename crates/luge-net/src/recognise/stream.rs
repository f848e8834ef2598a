//! Networks that learn from a stream: the targets of `targets.rs`, a memory of one batch, a slot for labels and a carrier.

use std::sync::Arc;

use super::{
    tapes, targets,
    walk::{Found, Walk, same},
};
use crate::{InputId, LinearMap, NodeId, NumberFormat, Op, ParameterId, Values, VertexTable};

/// When a bit of the memory is overwritten, or what a vertex does with the current batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BitUse {
    /// Never.
    #[default]
    Keep,
    /// When a batch is taken.
    Take,
    /// When labels are latched.
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
    /// The features of the current batch.
    pub features: InputId,
    /// Its labels.
    pub targets: InputId,
    /// A: the output while the machine runs. The slot holds -A while it is ready.
    pub carrier: f64,
    /// The weight of the distance in the output: 1 / A.
    pub gain: f64,
    /// The number format of the memory's bits.
    pub format: NumberFormat,
    /// For every number of the memory, its position among all features followed by all labels.
    pub order: Vec<usize>,
    /// When each bit of the memory is overwritten.
    pub renewed: Vec<BitUse>,
    /// What each vertex does with the current batch.
    pub uses: Vec<BitUse>,
    /// The cells that are not weights; 0 in the cells of the memory's bits.
    pub fixed_cells: Values,
    /// For every bit of the memory its position among those cells, row by row.
    pub places: Vec<usize>,
    /// The output once the machine has halted. Of the weights, it depends on cells and memory alone; it has no gradient.
    pub primary: NodeId,
}

/// Matches the whole network from its loss on: the slot z, the memory X, and D, the distance from the step's targets.
pub(super) fn read(walk: &mut Walk<'_>) -> Found<StreamLayers> {
    let table = walk.table()?;
    walk.hold(
        "loss = 0.5 squares(out - y) + 0
        out = select([rest], primary, running)
        running = carrier + slope * axis - take * (z - [z])
        slope = $gain D - $gain [D]
        D = 0.5 squares(x - [successor]) + 0.5 squares(under - [next]) + 0.5 squares(H - [moved]) + 0.5 squares(X - [held + change]) + 0.5 (-take + 1) * squares(z + $carrier)",
    )?;
    walk.hold(&targets::successor(table, "renewed"))?;
    walk.hold(&format!("held = [copy]\n{}", targets::saturated_11("copy", "X")))?;
    walk.hold(
        "take = [taken]
        taken = gather(uses)
        uses = linear(s)
        renewed = t + fresh
        fresh = reshape(fresh_cells)
        fresh_cells = linear(change)
        change = renewing * (bits - held)
        renewing = linear(uses)
        bits = quantize(ordered)
        ordered = gather(numbers)
        numbers = stack(reshape(features), reshape(-[z] + 0))",
    )?;
    targets::check_alike(walk)?;
    walk.require(same(walk.number("at_rest"), 1.0), "rest", "the weight at rest")?;
    let (carrier, gain) = (walk.number("carrier"), walk.number("gain"));
    walk.require(same(gain, 1.0 / carrier), "slope", "a distance less itself, divided by the carrier")?;
    let constant = walk.constant("carrier")?.iter().all(|&entry| same(entry, carrier));
    walk.require(constant, "carrier", "the same carrier everywhere")?;
    walk.check_first_axis("axis")?;
    let all = tapes::cells(walk, table)?;
    let (Some((cells, rate)), Some(fixed)) = (all.trained, all.fixed) else {
        return walk.refuse("T", "cells that are weights, then the memory's");
    };
    walk.require(same(rate, 1.0), "T", "weights that move with rate 1")?;
    walk.name("fixed", fixed);
    walk.hold("fixed = reshape(fixed_cells)\nfixed_cells = linear(held)")?;
    let (fixed_cells, places) = memory_cells(walk, table.n_trained)?;
    let (Op::Quantize(format, _), Op::Gather(order, _)) = (walk.op("bits"), walk.op("ordered")) else {
        unreachable!("matched as these");
    };
    let is_first = matches!(walk.op("taken"), Op::Gather(positions, _) if *positions == [0]);
    walk.require(is_first, "taken", "whether a batch is taken")?;
    let (renewing, uses) = (walk.map("renewing"), walk.map("uses"));
    let renewed = bit_uses(renewing, renewing.n_outputs(), |row, col| (row, col));
    let renewed = renewed.filter(|_| uses.n_outputs() == 2);
    let of_vertices = bit_uses(uses, uses.n_inputs(), |row, col| (col, row));
    let layers = StreamLayers {
        table: Arc::clone(table),
        vertex: walk.unit_rate("x")?,
        cells,
        head: walk.unit_rate("H")?,
        memory: walk.unit_rate("X")?,
        labels: walk.unit_rate("z")?,
        features: walk.input("features")?,
        targets: walk.input("y")?,
        carrier,
        gain,
        format: *format,
        order: order.clone(),
        renewed: walk.found(renewed, "renewing", "the bits that are renewed")?,
        uses: walk.found(of_vertices, "uses", "whether the vertices take or latch")?,
        fixed_cells,
        places,
        primary: walk.node("primary"),
    };
    check_reach(walk, &layers)?;
    Ok(layers)
}

/// Checks where labels and features go, what the primary network depends on, and that there are no other weights.
fn check_reach(walk: &Walk<'_>, layers: &StreamLayers) -> Found<()> {
    // Engines get features first, then labels: a memory that is filled from the second input would hold labels.
    let in_order = (layers.features.index(), layers.targets.index()) == (0, 1);
    walk.require(in_order, "features", "the first input")?;
    let (primary, bits) = (layers.primary, walk.node("bits"));
    walk.check_inputs(walk.node("out"), layers.targets.index(), &[bits, primary])?;
    let (cells, memory) = (Some(layers.cells), Some(layers.memory));
    let expected = "an output without a gradient that depends on cells and memory alone";
    walk.check_fixed(primary, &[cells, memory], expected)?;
    let known = [Some(layers.vertex), cells, Some(layers.head), memory, Some(layers.labels)];
    walk.check_known(&known, "vertex, cells, heads, memory or labels")
}

/// The outputs of a map that copies each input, with weight 1, to one output of its own.
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

/// The cells that are not weights: constants, and the memory's bits. The memory's change must go to the same cells.
fn memory_cells(walk: &Walk<'_>, n_trained: usize) -> Found<(Values, Vec<usize>)> {
    let expected = "rows of constants and of the memory's bits";
    let map = walk.map("fixed_cells");
    let places = walk.found(places_of(map), "fixed_cells", expected)?;
    let fixed = Values::new(walk.shape("fixed"), map.bias().into_owned());
    let mut of_memory = vec![false; fixed.data.len()];
    places.iter().for_each(|&place| of_memory[place] = true);
    let is_sign = |(i, &v): (usize, &f64)| if of_memory[i] { same(v, 0.0) } else { same(v.abs(), 1.0) };
    walk.require(fixed.data.iter().enumerate().all(is_sign), "fixed_cells", expected)?;
    let (fresh, offset) = (walk.map("fresh_cells"), n_trained * fixed.shape.cols);
    let expected: Vec<usize> = places.iter().map(|place| offset + place).collect();
    let alike = places_of(fresh).is_some_and(|found| found == expected);
    let unbiased = fresh.same_bias().is_some_and(|bias| same(bias, 0.0));
    walk.require(alike && unbiased, "fresh_cells", "the memory's change in its cells")?;
    Ok((fixed, places))
}

/// For each of `n` others, at most one of two units, take and latch; `ends` gives the other end of an arc, then the unit.
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
