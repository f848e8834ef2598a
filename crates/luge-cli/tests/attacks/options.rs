//! Option values that make no sense.

use super::{Desk, n_cases, said};

/// Command lines that make no sense.
#[test]
fn wrong_command_lines_are_refused() {
    let desk = Desk::new();
    desk.write("machine.bb", "1RB1LB_1LA1RZ\n");
    desk.write("data.csv", "x,y\n1,2\n2,1\n");
    let train = "train mean --data data.csv --target y";
    for line in [
        "run",
        "run nowhere.tm",
        "run machine.bb --steps -1",
        "run machine.bb --steps 99999999999999999999",
        "run machine.bb --input 2",
        "run machine.bb --picture .",
        "run machine.bb --line 5",
        "run machine.bb --start Q",
        "trace machine.bb --cells 0",
        "trace machine.bb --cells 99999999999",
        "trace machine.bb --base 1e300",
        "trace machine.bb --base nan",
        "trace machine.bb --scale 0",
        "trace machine.bb --offset -1",
        "trace machine.bb --noise nan",
        "trace machine.bb --landscape internal --base 16",
        "trace machine.bb --every 0s",
        "landscape machine.bb",
        "landscape machine.bb --at 100",
        "export machine.bb",
        "export machine.bb --graph x.json",
        "convert machine.bb",
        "convert machine.bb x.unknown",
        "convert nowhere.bb x.tm",
        "resume machine.bb",
        "resume nowhere",
        "revisit machine.bb 3",
        "predict machine.bb data.csv",
        "certify machine.bb --data data.csv",
        "train nobody",
        "train mean --data data.csv",
        "train mean --target y",
        "train mean --format fix:0.0",
        "train mean --data nowhere.csv --target y",
        "train mean --memory 0",
        "train mean --memory many",
        "train mean --label-offset nan",
        "train mean --label-offset inf",
        "train mean --final-loss nan",
        "train mean --final-loss -1",
        "train mean --primary mlp:",
        "train mean --primary mlp:1-0-1",
        "train mean --primary mlp:1-18446744073709551615-1",
        "train mean --autodiff-checks x",
        "train mean --split 0.5",
        "report machine.bb",
        "report machine.bb -o .",
        "report nowhere -o x.html",
        "compare",
        "compare nothing",
        "fly",
    ] {
        assert!(!desk.refused(line).trim().is_empty(), "{line}");
    }
    for more in [
        "--target z",
        "--features z",
        "--features x,x",
        "--features y",
        "--split 0",
        "--split 1",
        "--split nan",
        "--split 0.01",
        "--seed 3",
        "--missing never",
        "--scale huge",
        "--classes some",
        "--out .",
        "--out no/such/x",
        "--cells 1",
        "--format float:99.99",
        "--label-offset 1e300",
        "--checkpoint .",
        "--record .",
        "--plot .",
    ] {
        desk.refused(&format!("{train} {more}"));
    }
}

/// The message for a number that is too large names the limit.
#[test]
fn a_base_without_a_cube_has_the_right_message() {
    let said = Desk::new().refused("trace bb4 --base 1e300");
    assert!(said.contains("base 1e300 is out of range") && said.contains("from 16 to 1e100"), "{said}");
}

/// What is wrong with numbers is found before anything is simulated: this learner never halts.
#[test]
fn numbers_are_looked_at_before_the_first_step() {
    let desk = Desk::new();
    desk.write("data.csv", "x,y\n1,2\n2,1\n");
    desk.write(
        "endless.sled",
        "learner endless(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {\n    let n: int<32> = 0;\n    \
         let on: bit = true;\n    while on {\n        n += 1;\n    }\n}\n",
    );
    let train = "train endless.sled --data data.csv --target y --steps 1000000000000";
    for (more, says) in [
        ("--label-offset nan", "label offset"),
        ("--label-offset 1e300", "label offset"),
        ("--final-loss nan", "final loss"),
        ("--cells 3", "cells per tape"),
        ("--primary mlp:1-2-1", "weights"),
        ("--out no/such/folder/x", "cannot write"),
        ("--plot data.csv --force", "is read by this command"),
    ] {
        let said = desk.refused(&format!("{train} {more}"));
        assert!(said.contains(says), "{more}: {said}");
    }
}

/// Unexpected values, for every option that takes one.
#[test]
fn option_values_are_taken_or_refused() {
    const VALUES: [&str; 13] = [
        "",
        "-1",
        "0",
        "1",
        "nan",
        "-inf",
        "1e400",
        "4294967296",
        "18446744073709551616",
        "0x10",
        "1,2",
        "\x1b[2J",
        "/dev/zero",
    ];
    let desk = Desk::with_learner();
    desk.write("machine.bb", "1RB1LB_1LA1RZ\n");
    let commands = [
        ("run machine.bb", "from start line input steps memory"),
        (
            "trace machine.bb --memory 500M",
            "from start line input landscape vertices cells engine check rate precision noise seed steps autodiff-checks base \
             scale offset drop every",
        ),
        (
            "train sum.sled --data data.csv --target y --memory 500M",
            "from features format set primary landscape vertices carrier bits engine cells label-offset final-loss \
             steps autodiff-checks missing scale classes split seed every",
        ),
        ("landscape machine.bb --memory 500M", "at cells"),
        ("check sum.sled", "features labels format set"),
    ];
    let lines: Vec<String> = commands
        .iter()
        .flat_map(|(command, names)| names.split_whitespace().map(move |name| format!("{command} --{name}")))
        .flat_map(|line| VALUES.map(|value| format!("{line} {value}")))
        .collect();
    let every = (lines.len() as u64 / n_cases(150)).max(1) as usize;
    let mut statuses = [0; 3];
    for line in lines.iter().step_by(every) {
        let output = desk.survives(line);
        let status = output.status.code().expect("a status") as usize;
        statuses[status] += 1;
        assert!(status == 0 || !said(&output).trim().is_empty(), "{line}");
        assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{line}: an escape");
    }
    println!(
        "option values: {} of {} lines, by status {statuses:?}",
        statuses.iter().sum::<usize>(),
        lines.len()
    );
}
