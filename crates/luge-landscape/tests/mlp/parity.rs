//! Gauss-Jordan elimination over GF(2), one sample in two cycles.

use luge_circuit::{Builder, Circuit, Code, Literal, SampleShape};

/// Which bits a parity counts: row i of a reduced system has its pivot in column i.
pub(crate) fn parity_circuit(n: usize) -> Circuit {
    let mut b = Builder::new("parity");
    b.samples(SampleShape { n_features: n, feature: Code::Bit, label: Code::Bit });
    // Column n holds the right-hand side.
    let register = |b: &mut Builder, i: usize, j: usize| b.register(format!("row{i}[{j}]"), false);
    let registers: Vec<Vec<_>> = (0..n).map(|i| (0..=n).map(|j| register(&mut b, i, j)).collect()).collect();
    let rows: Vec<Vec<Literal>> =
        registers.iter().map(|row| row.iter().map(|&r| b.value(r)).collect()).collect();
    let x: Vec<Literal> = (0..n).map(|i| b.feature(i)).chain([b.label(0)]).collect();
    let mut reduced = Vec::new();
    for j in 0..=n {
        let mut terms: Vec<Literal> = (0..n).map(|i| b.and([x[i], rows[i][j]])).collect();
        terms.push(x[j]);
        reduced.push(b.parity(terms));
    }
    let first: Vec<Literal> =
        (0..n).map(|j| b.and(reduced[..j].iter().map(|&bit| !bit).chain([reduced[j]]))).collect();
    for i in 0..n {
        let mut hits: Vec<Literal> = (0..n).map(|j| b.and([first[j], rows[i][j]])).collect();
        hits.push(first[i]);
        let changes = b.sum(hits);
        for j in 0..=n {
            let change = b.and([changes, reduced[j]]);
            let target = b.parity([rows[i][j], change]);
            b.set(registers[i][j], target);
        }
    }
    b.next(Literal::TRUE);
    let full: Vec<Literal> = (0..n).map(|i| rows[i][i]).collect();
    let halted = b.and(full);
    b.halted(halted);
    let counted: Vec<Literal> = (0..n)
        .map(|i| {
            let query = b.query(i);
            b.and([rows[i][n], query])
        })
        .collect();
    let f = b.parity(counted);
    b.output([f]);
    b.build().expect("a circuit")
}
