//! All the ways in which one thing in a graph can be changed.

use std::{fmt, sync::Arc};

use luge_net::{Arcs, Block, LinearMap, Network, Node, NodeId, Op, StepRule, Values, VertexTable};

/// What was changed, and where.
pub(crate) struct StepDelta {
    node: String,
    how: String,
}

impl fmt::Display for StepDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.node, self.how)
    }
}

/// Lists with more entries than this are changed at every n-th place only.
const MAX_ENTRIES: usize = 160;

/// Every network that differs by one change. Nodes that nothing reads are not changed.
pub(crate) fn all_changes(network: &Network) -> impl Iterator<Item = (StepDelta, Network)> + '_ {
    let used = used(network);
    let nodes = network.numbered_nodes().filter(move |(id, _)| used[id.index()]);
    let ops = nodes.flat_map(move |(id, node)| {
        other_ops(network, id, node).into_iter().map(move |(how, op)| {
            let node = format!("node {}, {} `{}`", id.index(), node.op.word(), node.name);
            (StepDelta { node, how }, network.with_op(id, op))
        })
    });
    let used = self::used(network);
    let nodes = network.numbered_nodes().filter(move |(id, _)| used[id.index()]);
    let stops = nodes.flat_map(move |(id, node)| {
        (0..node.op.operands().len()).map(move |operand| {
            let node = format!("node {}, {} `{}`", id.index(), node.op.word(), node.name);
            let how = format!("operand {operand} under a stop-gradient");
            (StepDelta { node, how }, network.with_stop_before(id, operand))
        })
    });
    let rules = network.parameter_ids().zip(network.parameters()).flat_map(move |(id, parameter)| {
        let rules = match parameter.step_rule {
            StepRule::Simplex => vec![StepRule::Gradient { rate: 1.0 }],
            StepRule::Gradient { rate } => {
                let others = numbers(rate).into_iter().map(|rate| StepRule::Gradient { rate });
                others.chain([StepRule::Simplex]).collect()
            }
        };
        rules.into_iter().map(move |rule| {
            let change = StepDelta { node: parameter.name.clone(), how: format!("moved by {rule:?}") };
            (change, network.with_step_rule(id, rule))
        })
    });
    ops.chain(stops).chain(rules)
}

/// The nodes the loss is computed from.
fn used(network: &Network) -> Vec<bool> {
    let mut used = vec![false; network.nodes().len()];
    used[network.loss().index()] = true;
    for (i, node) in network.nodes().iter().enumerate().rev() {
        if used[i] {
            node.op.operands().iter().for_each(|operand| used[operand.index()] = true);
        }
    }
    used
}

/// Other numbers in place of this one.
fn numbers(number: f64) -> Vec<f64> {
    if number == 0.0 { vec![0.25] } else { vec![1.5 * number, number * (1.0 + 1e-6), -number, 0.0] }
}

fn other_ops(network: &Network, id: NodeId, node: &Node) -> Vec<(String, Op)> {
    let mut others = Vec::new();
    for (position, operand) in node.op.operands().iter().enumerate() {
        let shape = network.node(*operand).shape;
        let earlier = network.numbered_nodes().take(id.index());
        for (other, found) in earlier.filter(|(other, found)| other != operand && found.shape == shape) {
            let mut op = node.op.clone();
            *op.operands_mut()[position] = other;
            others.push((format!("operand {position} is node {} `{}`", other.index(), found.name), op));
        }
    }
    let mut add = |how: String, op: Op| others.push((how, op));
    match &node.op {
        Op::Parameter(_)
        | Op::Input(_)
        | Op::Reshape(_)
        | Op::MatMul(..)
        | Op::SumAll(_)
        | Op::SumColumns(_) => {}
        Op::Constant(values) => {
            for (i, &number) in values.data.iter().enumerate() {
                for other in numbers(number) {
                    let mut data = values.data.clone();
                    data[i] = other;
                    add(format!("entry {i} is {other}"), Op::Constant(Values::new(values.shape, data)));
                }
            }
        }
        Op::Linear(map, of) => {
            for (how, map) in other_maps(map) {
                add(how, Op::Linear(map, *of));
            }
        }
        Op::Sum(terms) => {
            for (i, &(weight, _)) in terms.iter().enumerate() {
                for other in numbers(weight) {
                    let mut terms = terms.clone();
                    terms[i].0 = other;
                    add(format!("weight {i} is {other}"), Op::Sum(terms));
                }
                let mut more = terms.clone();
                more.push(terms[i]);
                add(format!("term {i} twice"), Op::Sum(more));
                if terms.len() > 1 {
                    let mut fewer = terms.clone();
                    let left_out = fewer.remove(i);
                    let fits = fewer.iter().any(|(_, a)| network.node(*a).shape == node.shape);
                    if fits {
                        add(format!("without term {i}, {}", left_out.0), Op::Sum(fewer));
                    }
                }
            }
        }
        Op::Relu(of) | Op::Sqrt(of) | Op::StopGradient(of) => {
            add("gone".to_owned(), Op::Sum(vec![(1.0, *of)]));
            add("a stop-gradient".to_owned(), Op::StopGradient(*of));
            add("squared".to_owned(), Op::Product(*of, *of));
        }
        Op::Product(a, b) => {
            add("swapped".to_owned(), Op::Product(*b, *a));
            add("a quotient".to_owned(), Op::Quotient(*a, *b));
        }
        Op::Quotient(a, b) => add("a product".to_owned(), Op::Product(*a, *b)),
        Op::Shift(by, of) => {
            for other in [-by, 0, 2 * by] {
                add(format!("by {other}"), Op::Shift(other, *of));
            }
        }
        Op::Stack(a, b) => {
            if network.node(*a).shape == network.node(*b).shape {
                add("swapped".to_owned(), Op::Stack(*b, *a));
            }
        }
        Op::Gather(positions, of) => {
            for i in 0..positions.len() {
                let mut others = positions.clone();
                others[i] = (others[i] + 1) % network.node(*of).shape.len();
                add(format!("position {i} is {}", others[i]), Op::Gather(others, *of));
            }
        }
        Op::Quantize(_, of) => {
            let format = "fix:1.1".parse().expect("a format");
            add("of another format".to_owned(), Op::Quantize(format, *of));
        }
        Op::Dequantize(_, of) => {
            let format = "fix:1.1".parse().expect("a format");
            add("of another format".to_owned(), Op::Dequantize(format, *of));
        }
        Op::Switch { open, on, off } => {
            add("turned round".to_owned(), Op::Switch { open: *open, on: *off, off: *on });
            add("always on".to_owned(), Op::Sum(vec![(1.0, *on)]));
            let (condition, positive, otherwise) = (*open, *on, *off);
            add("a select".to_owned(), Op::Select { condition, positive, otherwise });
        }
        Op::Select { condition, positive, otherwise } => {
            let (condition, positive, otherwise) = (*condition, *otherwise, *positive);
            add("turned round".to_owned(), Op::Select { condition, positive, otherwise });
        }
    }
    others
}

fn other_maps(map: &LinearMap) -> Vec<(String, LinearMap)> {
    let mut others = Vec::new();
    let bias = map.bias().into_owned();
    for i in places(bias.len()) {
        let mut other = bias.clone();
        other[i] += 0.25;
        others.push((format!("bias {i} is {}", other[i]), map.clone().with_bias(other)));
    }
    for more in [0.25, -0.25] {
        let all = bias.iter().map(|bias| bias + more).collect();
        others.push((format!("every bias {more} more"), map.clone().with_bias(all)));
    }
    if let Some((table, arcs)) = map.as_arcs() {
        let same_bias = map.same_bias().unwrap_or(0.0);
        for arcs in other_arcs(arcs) {
            if sizes(table, arcs) == (map.n_outputs(), map.n_inputs()) {
                let other = LinearMap::of_vertices(table, arcs).with_same_bias(same_bias);
                others.push((format!("made of {arcs:?}"), other));
            }
        }
        for (how, table) in other_tables(table) {
            if sizes(&table, arcs) == (map.n_outputs(), map.n_inputs()) {
                let other = LinearMap::of_vertices(&table, arcs).with_same_bias(same_bias);
                others.push((format!("of a table where {how}"), other));
            }
        }
    }
    let entries = map.entries();
    for by in [1.5, -1.0] {
        let scaled = entries.iter().map(|&(row, col, weight)| (row as usize, col as usize, by * weight));
        let other = LinearMap::new(map.n_outputs(), map.n_inputs(), scaled).with_bias(bias.clone());
        others.push((format!("every entry times {by}"), other));
    }
    for i in places(entries.len()) {
        for weight in numbers(entries[i].2) {
            let listed = entries
                .iter()
                .enumerate()
                .map(|(j, &(row, col, w))| (row as usize, col as usize, if j == i { weight } else { w }));
            let other = LinearMap::new(map.n_outputs(), map.n_inputs(), listed).with_bias(bias.clone());
            others.push((format!("entry {i} is {weight}"), other));
        }
    }
    others
}

/// All places of a short list, every n-th of a long one.
fn places(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(1 + len / MAX_ENTRIES)
}

fn sizes(table: &Arc<VertexTable>, arcs: Arcs) -> (usize, usize) {
    let map = LinearMap::of_vertices(table, arcs);
    (map.n_outputs(), map.n_inputs())
}

fn other_arcs(arcs: Arcs) -> Vec<Arcs> {
    match arcs {
        Arcs::Now => vec![Arcs::Next { at_rest: true }, Arcs::Moving { by: 1, at_rest: true }],
        Arcs::Next { at_rest } => vec![Arcs::Next { at_rest: !at_rest }, Arcs::Now],
        Arcs::Keep { at_rest } => vec![Arcs::Keep { at_rest: !at_rest }, Arcs::Moving { by: 0, at_rest }],
        Arcs::Moving { by, at_rest } => {
            vec![Arcs::Moving { by: -by, at_rest }, Arcs::Moving { by, at_rest: !at_rest }]
                .into_iter()
                .filter(|other| *other != arcs)
                .collect()
        }
        Arcs::Successors { block, symbol } => {
            other_pairs(block, symbol).map(|(block, symbol)| Arcs::Successors { block, symbol }).collect()
        }
        Arcs::SelfEdges { block, symbol } => {
            other_pairs(block, symbol).map(|(block, symbol)| Arcs::SelfEdges { block, symbol }).collect()
        }
        Arcs::DipLevels { block, symbol } => {
            other_pairs(block, symbol).map(|(block, symbol)| Arcs::DipLevels { block, symbol }).collect()
        }
        Arcs::Levels { at_rest, block, symbol } => {
            let rest = numbers(at_rest).into_iter().map(|at_rest| Arcs::Levels { at_rest, block, symbol });
            let others = other_pairs(block, symbol);
            rest.chain(others.map(|(block, symbol)| Arcs::Levels { at_rest, block, symbol })).collect()
        }
        Arcs::Dips { weight } => numbers(weight).into_iter().map(|weight| Arcs::Dips { weight }).collect(),
        Arcs::Marginals | Arcs::NextBlock | Arcs::OfBlock | Arcs::OfSymbols | Arcs::Alike => Vec::new(),
    }
}

/// A pair with one of its numbers changed.
fn other_pairs(block: f64, symbol: f64) -> impl Iterator<Item = (f64, f64)> {
    let blocks = numbers(block).into_iter().map(move |block| (block, symbol));
    blocks.chain(numbers(symbol).into_iter().map(move |symbol| (block, symbol)))
}

/// Tables with one column changed.
fn other_tables(table: &VertexTable) -> Vec<(String, Arc<VertexTable>)> {
    let mut blocks: Vec<Block> = Vec::new();
    for (block, depends_on, _, column) in table.all_columns() {
        if block == blocks.len() {
            blocks.push(Block { looks_at: table.looks_at(block), depends_on, columns: Vec::new() });
        }
        blocks[block].columns.push(column.copied());
    }
    let rebuilt =
        |blocks: &[Block]| Arc::new(VertexTable::new(table.rows.to_vec(), table.n_trained, blocks.to_vec()));
    let n_blocks = u32::try_from(blocks.len()).expect("few blocks");
    let all = (1_u32 << table.n_tracks) - 1;
    let mut others = Vec::new();
    for (b, block) in blocks.iter().enumerate() {
        for (c, column) in block.columns.iter().enumerate() {
            let Some(column) = *column else { continue };
            let mut changed = [column; 4];
            changed[0].next = (column.next + 1) % n_blocks;
            (changed[1].put, changed[1].plus) = (all, column.plus ^ 1);
            (changed[2].left, changed[2].right) = (column.right, column.left);
            (changed[3].left, changed[3].right) = (all & !column.left, 0);
            for (how, other) in ["next", "put", "turned", "left"].into_iter().zip(changed) {
                if other != column {
                    let mut blocks = blocks.clone();
                    blocks[b].columns[c] = Some(other);
                    others.push((format!("column {c} of block {b} has another {how}"), rebuilt(&blocks)));
                }
            }
        }
    }
    let mut rows = table.rows.to_vec();
    rows.reverse();
    if rows != table.rows {
        others.push((
            "rows are turned round".to_owned(),
            Arc::new(VertexTable::new(rows, table.n_trained, blocks)),
        ));
    }
    others
}
