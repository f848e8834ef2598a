//! Texts longer than a formatting width, and texts that a terminal would obey.

use std::process::Output;

use super::Desk;

/// A machine with a name, in our own format.
fn machine(name: &str) -> String {
    format!("machine \"{name}\"\ntape t: 0 1 blank 0\nstart: a\n\na:\n  0 -> 1, R, b\n\nb: accept\n")
}

/// A learner that prints a text.
fn printing(text: &str) -> String {
    format!(
        "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{ print(\"{text}\"); theta[0] = 1; }}\n"
    )
}

/// Commands that show what users and files have written, for a desk that [`write_texts`] filled.
const SHOWING: [&str; 8] = [
    "train sum.sled --data named.csv --target y --format fix:5.0 --force --out model.safetensors",
    "inspect model.safetensors",
    "predict model.safetensors named.csv",
    "train sum.sled --data named.csv --target z",
    "train sum.sled --data words.csv --target y --one-hot",
    "run print.sled --data named.csv --target y --format fix:5.0",
    "run name.tm",
    "inspect name.tm",
];

/// Puts a text wherever a file can have one.
fn write_texts(desk: &Desk, text: &str) {
    desk.write("named.csv", format!("{text},y\n1,2\n2,1\n"));
    desk.write("words.csv", format!("x,y\n{text},2\nb,1\n"));
    desk.write("print.sled", printing(text));
    desk.write("name.tm", machine(text));
}

/// Nothing that users or files write reaches a formatting width unbounded: `format!` panics beyond 65,535.
#[test]
fn texts_of_any_length_are_printed() {
    let desk = Desk::with_learner();
    let lengths = [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20];
    for length in lengths {
        write_texts(&desk, &"n".repeat(length));
        SHOWING.iter().for_each(|line| drop(desk.survives(line)));
    }
    println!("long texts: {} commands", lengths.len() * SHOWING.len());
}

/// What was learned is one cell of the output, however many columns there are.
#[test]
fn a_model_of_many_columns_is_printed() {
    let desk = Desk::with_learner();
    let names: Vec<String> = (0..4_400).map(|i| format!("a_column_with_a_name_{i}")).collect();
    desk.write("wide.csv", format!("{},y\n{}1\n", names.join(","), "1,".repeat(names.len())));
    let output = desk.done("train sum.sled --data wide.csv --target y --format fix:3.0");
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(line.contains("a_column_with_a_name_4399"), "{}", &line[..200]);
}

/// Headers, cells, names of machines and `print` cannot speak to the terminal.
#[test]
fn nothing_that_is_printed_moves_a_terminal() {
    let desk = Desk::with_learner();
    // A whole screen erased, a new title, and the same as one character of Latin 1.
    write_texts(&desk, "\x1b[2J\x1b]0;title\x07\u{9b}2J");
    for line in SHOWING {
        let Output { stdout, stderr, .. } = desk.survives(line);
        for (what, bytes) in [("output", stdout), ("errors", stderr)] {
            let text = String::from_utf8(bytes).expect("text");
            let obeyed = text.chars().find(|&c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(obeyed, None, "{line}: its {what} are {text:?}");
        }
    }
    println!("terminal escapes: {} commands, none passed on", SHOWING.len());
}
