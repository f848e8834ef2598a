//! Cells, names and texts longer than a formatting width, and texts that a terminal would obey.

use super::Desk;

/// Nothing that users or files write reaches a formatting width unbounded: the widest is 65,535.
#[test]
fn cells_of_any_length_are_printed() {
    let desk = Desk::new();
    let mut n = 0;
    for length in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20] {
        let name = "n".repeat(length);
        desk.write("data.csv", format!("{name},y\n1,2\n2,1\n"));
        desk.write("long.sled", format!(
            "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{ print(\"{name}\"); theta[0] = 1; }}\n"
        ));
        desk.write(
            "long.tm",
            format!("machine \"{name}\"\ntape t: 0 1 blank 0\nstart a\nstate a:\n  0 -> 1, R, b\nhalt b\n"),
        );
        for line in [
            "train mean --data data.csv --target y --force --out model.safetensors",
            "inspect model.safetensors",
            "run long.sled --data data.csv --target y",
            "run long.tm",
            "inspect long.tm",
            "convert long.tm - --to native",
        ] {
            desk.survives(line);
            n += 1;
        }
    }
    println!("long cells: {n} commands, no panic");
}

/// Many columns: what was learned is one cell of the output.
#[test]
fn a_model_of_many_columns_is_printed() {
    let desk = Desk::new();
    let names: Vec<String> = (0..4_400).map(|i| format!("a_column_with_a_name_{i}")).collect();
    let row = |label: i32| format!("{}{label}\n", "1,".repeat(names.len()));
    desk.write("wide.csv", format!("{},y\n{}{}", names.join(","), row(1), row(-1)));
    let output =
        desk.survives("train perceptron --data wide.csv --target y --format fix:14.2 --steps 100000000");
    assert!(output.status.code() != Some(101));
}

/// Headers, cells, machine names and `print` cannot speak to the terminal.
#[test]
fn nothing_that_is_printed_moves_a_terminal() {
    let desk = Desk::new();
    let escape = "\x1b[2J\x1b]0;title\x07";
    desk.write("data.csv", format!("a{escape},y\n1,2\n2,1\n"));
    desk.write("words.csv", format!("x,y\n{escape},2\nb,1\n"));
    desk.write("print.sled", format!(
        "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{ print(\"{escape}\"); theta[0] = 1; }}\n"
    ));
    desk.write(
        "name.tm",
        format!("machine \"{escape}\"\ntape t: 0 1 blank 0\nstart a\nstate a:\n  0 -> 1, R, b\nhalt b\n"),
    );
    let lines = [
        "train mean --data data.csv --target y --force --out model.safetensors",
        "inspect model.safetensors",
        "train mean --data words.csv --target y",
        "train mean --data words.csv --target y --one-hot",
        "train mean --data data.csv --target z",
        "run print.sled --data data.csv --target y",
        "run name.tm",
        "inspect name.tm",
        "trace name.tm",
    ];
    for line in lines {
        let output = desk.survives(line);
        for (what, bytes) in [("output", &output.stdout), ("errors", &output.stderr)] {
            assert!(!bytes.contains(&0x1b) && !bytes.contains(&0x07), "{line}: escapes in its {what}");
        }
    }
    println!("terminal escapes: {} commands, none passed on", lines.len());
}
