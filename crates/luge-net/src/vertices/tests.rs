use super::*;

const STAY: Column = Column { next: 0, put: 0, plus: 0, left: 0, right: 0 };

/// Two tracks; block 0 depends on the second, block 1 is at rest.
fn table(looks_at: [u32; 2]) -> VertexTable {
    let away = Column { next: 1, put: 0b10, plus: 0b10, left: 0b01, right: 0b10 };
    let blocks = vec![
        Block { looks_at: looks_at[0], depends_on: 0b10, columns: vec![Some(away), Some(STAY)] },
        Block { looks_at: looks_at[1], depends_on: 0, columns: vec![None] },
    ];
    VertexTable::new(vec![1, 0], 1, blocks)
}

#[test]
fn a_vertex_has_the_column_of_the_symbols_it_depends_on() {
    let table = table([0b11; 2]);
    assert_eq!((table.n_vertices, table.n_columns()), (8, 3));
    assert_eq!(table.column(0b001).map(|c| c.next), Some(1));
    assert_eq!(table.column(0b010), Some(&STAY));
    assert_eq!(table.column(0b111), None);
    assert!(table.has_self_edge(0b011) && !table.has_self_edge(0b001));
    let places: Vec<usize> = (0..8).map(|v| table.place(table.block(v), table.symbols(v))).collect();
    assert_eq!(places, [0, 0, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn blocks_have_a_vertex_for_every_combination_they_look_at() {
    let table = table([0b10, 0]);
    assert_eq!((table.n_vertices, table.n_columns()), (3, 3));
    let found: Vec<(usize, u32)> = (0..3).map(|v| (table.block(v), table.symbols(v))).collect();
    assert_eq!(found, [(0, 0b00), (0, 0b10), (1, 0)]);
    for symbols in 0..4 {
        assert_eq!(table.vertex(0, symbols), (symbols >> 1) as usize);
        assert_eq!(table.vertex(1, symbols), 2);
    }
    assert!(!table.has_self_edge(0) && table.has_self_edge(1) && !table.has_self_edge(2));
    // Both look at different tracks: one combination of none, two of one.
    assert_eq!(table.combination_biases(), [0.0, 0.0, 1.0]);
}

#[test]
fn a_column_puts_and_moves() {
    let column = Column { next: 0, put: 0b110, plus: 0b010, left: 0b001, right: 0b100 };
    assert_eq!(column.written(0b101), 0b011);
    assert_eq!([0, 1, 2].map(|i| column.offset(i)), [-1, 0, 1]);
}

#[test]
fn bits_are_packed_and_spread() {
    for packed in 0..8 {
        assert_eq!(extract(deposit(packed, 0b1011_0000), 0b1011_0000), packed);
    }
    assert_eq!(extract(0b1010, 0b1110), 0b101);
}

#[test]
fn what_is_not_looked_at_is_kept_or_put() {
    let entries = |arcs: Arcs| {
        let mut listed = arcs.list(&table([0b10, 0]));
        listed.sort_by_key(|&(row, col, _)| (col, row));
        listed
    };
    // Track 0 has row 1, track 1 row 0. The first vertex puts +1 on track 1 and keeps track 0, the second keeps both and knows
    // the +1 on track 1, the third is at rest and knows nothing.
    assert_eq!(entries(Arcs::Now), [(0, 0, -1.0), (0, 1, 1.0)]);
    assert_eq!(entries(Arcs::Next { at_rest: true }), [(0, 0, 1.0), (0, 1, 1.0)]);
    assert_eq!(entries(Arcs::Keep { at_rest: true }), [(1, 0, 1.0), (1, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]);
    assert_eq!(entries(Arcs::Keep { at_rest: false }), [(1, 0, 1.0), (1, 1, 1.0)]);
    assert!(Arcs::Keep { at_rest: true }.is_empty(&table([0b11; 2])));
    assert!(!Arcs::Keep { at_rest: true }.is_empty(&table([0b11, 0])));
    assert!(Arcs::Keep { at_rest: false }.is_empty(&table([0b11, 0])));
    // Blocks first, then the two symbols of track 1 in block 0. A symbol counts where both blocks look at it.
    assert_eq!(entries(Arcs::Marginals), [(0, 0, 1.0), (2, 0, 1.0), (0, 1, 1.0), (3, 1, 1.0), (1, 2, 1.0)]);
    let successors = Arcs::Successors { block: -8.0, symbol: -2.0 };
    assert_eq!(entries(successors), [(1, 0, -8.0), (0, 1, -8.0), (1, 3, -2.0)]);
    assert_eq!(entries(Arcs::SelfEdges { block: -8.0, symbol: -2.0 }), [(1, 1, -10.0)]);
    assert_eq!(entries(Arcs::DipLevels { block: -8.0, symbol: -2.0 }), [(0, 0, -10.0)]);
}

#[test]
fn sizes_and_counts_are_those_of_the_listed_arcs() {
    let few = table([0b10, 0]);
    let all = table([0b11; 2]);
    assert_eq!((n_self_edges(&few), n_self_edges(&all)), (1, 2));
    let maps = [
        Arcs::Now,
        Arcs::Next { at_rest: true },
        Arcs::Keep { at_rest: true },
        Arcs::Moving { by: 1, at_rest: true },
        Arcs::Marginals,
        Arcs::Successors { block: -2.0, symbol: -1.0 },
        Arcs::SelfEdges { block: 3.0, symbol: 0.5 },
        Arcs::Levels { at_rest: 1.0, block: 2.0, symbol: 0.5 },
        Arcs::Dips { weight: 4.0 },
        Arcs::DipLevels { block: 3.0, symbol: 0.5 },
        Arcs::NextBlock,
        Arcs::OfBlock,
        Arcs::OfSymbols,
        Arcs::Alike,
    ];
    for (table, arcs) in [&few, &all].into_iter().flat_map(|table| maps.map(|arcs| (table, arcs))) {
        let (outputs, inputs) = arcs.size(table);
        let listed = arcs.list(table);
        assert!(listed.iter().all(|&(row, col, _)| row < outputs && col < inputs), "{arcs:?}");
        assert!(listed.len() <= arcs.most_entries(table), "{arcs:?}");
        assert_eq!(listed.is_empty(), arcs.is_empty(table), "{arcs:?}");
        let x: Vec<f64> = (0..inputs).map(|i| f64::from(i as u32 % 5) - 1.0).collect();
        let (mut one_by_one, mut at_once) = (vec![0.0; outputs], vec![0.0; outputs]);
        listed.iter().for_each(|&(row, col, weight)| one_by_one[row] += weight * x[col]);
        arcs.add(table, &x, &mut at_once);
        assert_eq!(at_once, one_by_one, "{arcs:?}");
    }
    for (by, at_rest, empty) in [(-1, true, false), (0, false, false), (1, false, false)] {
        let arcs = Arcs::Moving { by, at_rest };
        assert_eq!((arcs.is_empty(&all), arcs.list(&all).is_empty()), (empty, empty));
    }
    let block = Block { looks_at: 1, depends_on: 0, columns: vec![Some(STAY)] };
    let still = VertexTable::new(vec![0], 1, vec![block]);
    assert!(Arcs::Moving { by: 1, at_rest: true }.is_empty(&still));
    assert!(!Arcs::Moving { by: 0, at_rest: false }.is_empty(&still));
}

#[test]
fn listed_arcs_are_what_the_table_says() {
    let weights = |block: f64, symbol: f64| {
        [
            Arcs::Successors { block, symbol },
            Arcs::SelfEdges { block, symbol },
            Arcs::Levels { at_rest: -8.0, block, symbol },
            Arcs::DipLevels { block, symbol },
        ]
    };
    let moving =
        [-1, 0, 1].into_iter().flat_map(|by| [true, false].map(|at_rest| Arcs::Moving { by, at_rest }));
    let others = [
        Arcs::Now,
        Arcs::Next { at_rest: true },
        Arcs::Next { at_rest: false },
        Arcs::Keep { at_rest: true },
        Arcs::Keep { at_rest: false },
        Arcs::Marginals,
        Arcs::Dips { weight: 4.0 },
        Arcs::NextBlock,
        Arcs::OfBlock,
        Arcs::OfSymbols,
        Arcs::Alike,
    ];
    let all: Vec<Arcs> = weights(-64.0, -4.0).into_iter().chain(moving).chain(others).collect();
    for looks_at in [[0b11, 0b11], [0b10, 0], [0b11, 0b01]] {
        let table = table(looks_at);
        for &arcs in &all {
            assert_eq!(first_difference(&table, arcs), None, "{arcs:?} of {looks_at:?}");
        }
    }
}
