//! Limits at powers of two: the last number that is allowed, and the first that is not.
//!
//! Counted in units of 2^16: rounds of a loop whose variable is used, and numbers of a program (here); formatting
//! widths (`text`); symbols of an input in the lab (`luge-lab`); rules after wildcards are expanded (`luge-machine`).
//! Of 2^20: bytes between two questions to memory, inputs of an AIGER circuit, steps between two looks at the clock
//! (here); messages to the lab (`luge-lab`); cells of a universal machine's program (`luge::job::universal`).
//! Of 2^24: cells of a traced tape, the distance of a head from cell 0, steps between two questions to memory (here).
//! Of 2^28: cells of a learner's tape (here), the distance of a head from the cells that a snapshot holds
//! (`luge_train::frame`).

use super::{Desk, SUM};

const LIMITS: [u64; 4] = [1 << 16, 1 << 20, 1 << 24, 1 << 28];

/// A learner with this body.
fn program(body: &str) -> String {
    format!("learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{ {body} }}\n")
}

/// Writes a file for the last number that is allowed and for the first that is not, and reads both.
fn check(name: &str, last: u64, content: impl Fn(u64) -> String, line: &str, says: &str) {
    let desk = Desk::new();
    for number in [last - 1, last] {
        desk.write(name, content(number));
        desk.done(line);
    }
    desk.write(name, content(last + 1));
    let said = desk.refused(line);
    assert!(said.contains(says), "{line} with {}: {said}", last + 1);
}

#[test]
fn limits_of_files() {
    let rounds = |n| program(&format!("for i in 0..{n} {{ if i == 3 {{ theta[0] += 1; }} }}"));
    check("x.sled", 1 << 16, rounds, "check x.sled", "65537 rounds are too many");
    // Three numbers are theta's.
    let numbers = |n| program(&format!("let a: [bit; {}]; a[0] = true; if a[0] {{ theta[0] = 1; }}", n - 3));
    check("x.sled", 1 << 16, numbers, "check x.sled", "65536");
    let inputs = |n| format!("aig {n} {n} 0 1 0\n2\n");
    check("x.aig", 1 << 20, inputs, "inspect x.aig", "1048576");
    let head = |n| {
        format!(
            "machine \"m\"\ntape t: 0 1 blank 0\ninput t: 1 head {n}\n\na:\n  0 -> 1, R, b\n\nb: accept\n"
        )
    };
    check("x.tm", 1 << 24, head, "run x.tm", "16777216");
}

/// Files whose length is that of the pieces they are read in, and one byte more and less.
#[test]
fn lengths_of_files() {
    let desk = Desk::new();
    for length in [1 << 16, 1 << 20, 1 << 24].into_iter().flat_map(|limit| [limit - 1, limit, limit + 1]) {
        let text = format!("{SUM}// {}\n", "c".repeat(length - SUM.len() - 5));
        // One space too many, so that the whole file is written anew.
        desk.write("x.sled", text.replacen("sum(", " sum(", 1));
        assert_eq!(desk.read("x.sled").len(), length);
        desk.done("fmt x.sled");
        assert!(desk.read("x.sled") == text.as_bytes(), "{length} bytes");
    }
}

/// Runs end at exactly the requested step.
#[test]
fn numbers_of_steps() {
    let desk = Desk::new();
    let there_and_back = "0LB0LB_0RA0RA";
    for limit in LIMITS {
        // The longest run takes seconds, so it is made once.
        let around = if limit < 1 << 28 { [limit - 1, limit, limit + 1].to_vec() } else { vec![limit + 1] };
        for steps in around {
            let commands = if limit <= 1 << 16 { &["run", "trace"][..] } else { &["run"] };
            for command in commands {
                let line = format!("{command} {there_and_back} --steps {steps} --json");
                let printed = String::from_utf8(desk.done(&line).stdout).expect("text");
                assert!(printed.contains(&format!("{steps}")), "{line}: {printed}");
            }
        }
    }
}

/// Cells: the largest number is taken, or refused for the memory that it would need; one more is no number of cells.
#[test]
fn numbers_of_cells() {
    let desk = Desk::with_learner();
    let train = "train sum.sled --data data.csv --target y --format fix:5.0";
    for (command, limit) in [("trace 1RB1LB_1LA1RZ", 1_u64 << 24), (train, 1 << 28)] {
        for cells in LIMITS.into_iter().filter(|&cells| cells <= limit) {
            let output = desk.survives(&format!("{command} --cells {cells}"));
            let refused = super::said(&output);
            assert!(output.status.success() || refused.contains("--memory"), "{command}: {refused}");
        }
        let said = desk.refused(&format!("{command} --cells {}", limit + 1));
        assert!(said.contains(&format!("from 1 to {limit}")), "{command}: {said}");
    }
}
