//! The survey and the vertex it leads to, held to sums over all cells and all vertices.

use luge_net::{Block, Column, Form};
use proptest::prelude::*;

use super::*;
use crate::sparse::{
    columns::Action,
    tape::{Cells, Head, Tape},
};

/// Numbers drawn one after the other.
struct Draw(std::vec::IntoIter<u32>);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next().unwrap_or(0) % n
    }

    /// One of some numbers, all of which are sums of few powers of two: arithmetic is exact, and ties are ties.
    fn of(&mut self, numbers: &[f64]) -> f64 {
        numbers[self.below(numbers.len() as u32) as usize]
    }

    fn column(&mut self, all: u32, next: u32) -> Column {
        let (put, left) = (self.below(all + 1), self.below(all + 1));
        let (plus, right) = (put & self.below(all + 1), self.below(all + 1) & !left);
        Column { next, put, plus, left, right }
    }

    /// Edges lead from each third of the blocks to the next, as they do where they are units; else anywhere.
    fn table(&mut self, n_tracks: usize, edge_units: bool) -> VertexTable {
        let all = (1 << n_tracks) - 1;
        let per_third = 1 + self.below(3);
        let blocks = (0..3 * per_third).map(|block| {
            let looks_at = [all, self.below(all + 1)][self.below(2) as usize];
            let depends_on = looks_at & self.below(all + 1);
            let columns = (0..1 << depends_on.count_ones()).map(|_| {
                let third = (block / per_third + 1) % 3 * per_third;
                let next = if edge_units { third + self.below(per_third) } else { self.below(3 * per_third) };
                (self.below(6) > 0).then(|| self.column(all, next))
            });
            Block { looks_at, depends_on, columns: columns.collect() }
        });
        let blocks = blocks.collect();
        VertexTable::new((0..n_tracks).collect(), n_tracks, blocks)
    }

    fn form(&mut self, edge_units: bool) -> Form {
        let downhill = [-0.25, -1.0, -8.0, -4096.0];
        let uphill = if edge_units { -0.5 } else { 2.0 };
        Form::Slides {
            offset: 16.0,
            at_rest: self.of(&[0.0, -1.0, -4096.0]),
            edge: self.of(&[downhill[0], downhill[1], downhill[2], downhill[3], 0.0, uphill]),
            symbol: self.of(&downhill),
            write: 0.5,
            read: self.of(&[0.125, 1.0, 512.0]),
            shift: 0.5,
            cell_rate: self.of(&[1.0, 1.0, 0.5]),
            head_rate: self.of(&[1.0, 1.0, 1.0, 0.5]),
            edge_units,
            unrounded: true,
        }
    }

    fn tape(&mut self) -> Tape {
        let cells = (0..12).map(|_| self.of(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.0])).collect();
        let heads: [&[f64]; 5] = [&[1.0], &[1.0], &[1.0], &[0.75], &[0.5, 0.25]];
        let weights = heads[self.below(5) as usize];
        Tape::new(Cells::new(0, cells), Head::new(4, weights), true)
    }
}

/// Cells far enough for every head here.
const CELLS: std::ops::Range<i64> = -20..40;

/// What a vertex says of a track: its symbol, 0 where it does not look.
fn now(table: &VertexTable, vertex: usize, track: usize) -> f64 {
    let looks = table.looks_at(table.block(vertex)) >> track & 1 == 1;
    if looks { symbol(table.symbols(vertex), track) } else { 0.0 }
}

/// The residuals of writing, reading and moving on one track, summed over all cells.
fn residuals(table: &VertexTable, vertex: usize, tape: &Tape, track: usize) -> (f64, f64, f64) {
    let head = |cell: i64| {
        let index = usize::try_from(cell - tape.head.first()).ok();
        index.and_then(|index| tape.head.weights().nth(index)).unwrap_or(0.0)
    };
    let column = table.column(vertex);
    let offset = column.map_or(0, |column| column.offset(track));
    let read: f64 = CELLS.map(|cell| tape.cells.at(cell) * head(cell)).sum();
    let (is_put, plus) = column.map_or((false, 0), |column| (column.put >> track & 1 == 1, column.plus));
    let seen = table.looks_at(table.block(vertex)) >> track & 1 == 1;
    let next = match (is_put, seen) {
        (true, _) => symbol(plus, track),
        (false, true) => symbol(table.symbols(vertex), track),
        (false, false) => read,
    };
    let written = |cell: i64| tape.cells.at(cell) + head(cell) * (next - read);
    let ahead: f64 = CELLS.map(|cell| written(cell) * head(cell - offset)).sum();
    let moved = CELLS.map(|cell| head(cell - offset) - head(cell)).map(|r| r * r).sum();
    (read - next, ahead - now(table, vertex, track), moved)
}

/// The slope at `v` towards `w`, of two vertices of which one may be the other: section 4 of docs/construction.md.
fn slope(table: &VertexTable, form: &Form, reads: &[f64], v: usize, w: usize) -> f64 {
    let Form::Slides { at_rest, edge, symbol, read, edge_units, .. } = *form else { unreachable!("slides") };
    let leads = |v: usize, w: usize| {
        let column = table.column(v)?;
        let same = |&track: &usize| now(table, v, track) * now(table, w, track) > 0.0;
        let n_same = (0..reads.len()).filter(same).count();
        (column.next as usize == table.block(w)).then_some(edge + n_same as f64 * symbol)
    };
    let level = if v == w && table.column(v).is_none() { 4.0 * at_rest } else { 0.0 };
    let forwards = 4.0 * leads(v, w).unwrap_or(0.0);
    let backwards = if edge_units { 2.0 * leads(w, v).unwrap_or(0.0) } else { 0.0 };
    let symbols: f64 = reads.iter().enumerate().map(|(i, r)| -2.0 * read * r * now(table, w, i)).sum();
    level + forwards + backwards + symbols
}

/// From vertex to vertex, wherever: loss and best vertex are those of all sums, and the step is what the next look finds.
fn check<const ONE: bool>(draw: &mut Draw) {
    let n_tracks = if ONE { 1 } else { 1 + draw.below(4) as usize };
    let edge_units = draw.below(2) == 1;
    let (table, form) = (draw.table(n_tracks, edge_units), draw.form(edge_units));
    let Form::Slides { offset, at_rest, write, read, shift, .. } = form else { unreachable!("slides") };
    let slides = Slides::new(&form).expect("slides");
    let mut tapes = Tapes::new((0..n_tracks).map(|_| draw.tape()).collect());
    let mut vertex = draw.below(table.n_vertices as u32) as usize;
    // After a few more steps with heads on several cells, numbers would be rounded.
    for _ in 0..4 {
        let found: Vec<_> =
            tapes.rows.iter().enumerate().map(|(i, tape)| residuals(&table, vertex, tape, i)).collect();
        let level = if table.column(vertex).is_none() { at_rest } else { 0.0 };
        let squares = found.iter().map(|(w, r, m)| write * w * w + read * r * r + shift * m);
        let reads: Vec<f64> = found.iter().map(|&(_, r, _)| r).collect();
        let action = Action::of(&table, Some(&slides), vertex);
        let seen = tapes.survey::<ONE>(&action, &slides);
        let landscape = offset + level + squares.sum::<f64>();
        assert!(
            (seen.landscape - landscape).abs() <= 1e-12 * landscape.abs(),
            "{} is not {landscape}",
            seen.landscape
        );

        let slopes: Vec<f64> =
            (0..table.n_vertices).map(|w| slope(&table, &form, &reads, vertex, w)).collect();
        let lowest = slopes.iter().copied().fold(slopes[vertex], f64::min);
        let first = slopes.iter().position(|&slope| slope <= lowest);
        let expected = if lowest < slopes[vertex] { first } else { Some(vertex) };
        let at = || Slopes { table: &table, slides: &slides, vertex, action: &action, tapes: &tapes, seen };
        let best = Slopes::best::<ONE>(at);
        assert_eq!(Some(best), expected, "from {vertex} in {table:?}, {form:?}, slopes {slopes:?}");

        tapes.step::<ONE>(seen.busy, slides.rates(1.0));
        let jump = draw.below(table.n_vertices as u32) as usize;
        vertex = [best, best, jump][draw.below(3) as usize];
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_best_vertex_is_the_lowest_of_all(numbers in prop::collection::vec(any::<u32>(), 400)) {
        check::<false>(&mut Draw(numbers.into_iter()));
    }

    #[test]
    fn so_it_is_without_loops_on_one_track(numbers in prop::collection::vec(any::<u32>(), 400)) {
        check::<true>(&mut Draw(numbers.into_iter()));
    }
}
