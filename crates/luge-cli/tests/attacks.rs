//! Command lines and files that ask for too much, under a limit of memory (`ulimit -v`): each ends with words and with
//! status 0, 1 or 2; none is killed, none panics.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use luge::files::model::Model;

/// Addresses that a process may have, in kilobytes.
const MAX_KILOBYTES: usize = 2_000_000;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).expect("a file");
    }

    /// Runs a command line, its words separated by spaces, under the limit.
    fn attack(&self, line: &str) -> Output {
        let script = format!("ulimit -v {MAX_KILOBYTES}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_luge")]).args(line.split(' '));
        shell.current_dir(self.0.path()).stdin(Stdio::null()).output().expect("a shell")
    }

    /// What is said to a command line; it must be refused.
    fn refused(&self, line: &str) -> String {
        let output = self.attack(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: {:?}\n{said}", output.status);
        assert!(!said.contains("panicked"), "{line}: {said}");
        said
    }

    /// A command line that may succeed or be refused.
    fn survives(&self, line: &str) -> Output {
        let output = self.attack(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)), "{line}: {:?}\n{said}", output.status);
        assert!(!said.contains("panicked"), "{line}: {said}");
        output
    }
}

fn learner(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge/learners").join(name).display().to_string()
}

/// Everything that grows with cells, vertices, weights and steps asks before it is made.
#[test]
fn what_is_too_large_is_refused_in_words() {
    let desk = Desk::new();
    desk.write("loop.sled", unrolled(3_000_000));
    desk.write("data.csv", "x,y\n1,2\n2,1\n");
    for line in [
        "train --cells 100000000",
        "train --cells 4000000 --engine dense",
        "train mean --cells 268435456",
        "landscape 1RB1LB_1LA1RZ --at 1 --cells 16777216",
        "trace 1RB1LB_1LA1RZ --cells 16777216 --engine dense",
        "trace bb4 --cells 16777216 --landscape plain --engine dense",
    ] {
        let said = desk.refused(line);
        assert!(said.contains("--memory"), "{line}: {said}");
    }
    // Tapes that are blank but for a few cells take little, however long they are.
    assert_eq!(desk.survives("train --cells 4000000").status.code(), Some(0));
    desk.refused("train mean --primary mlp:1-4096-4096-1");
    desk.refused("train mean --primary mlp:1-16777216-16777216-1");
    desk.survives("train loop.sled --data data.csv --target y");
}

/// A program whose loop is unrolled this often.
fn unrolled(times: usize) -> String {
    format!(
        "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{\n    let t: tape;\n    \
         for i in 0..{times} {{\n        t.right();\n    }}\n}}\n"
    )
}

/// A machine that runs away takes what it may, then says so.
#[test]
fn a_runaway_machine_is_stopped() {
    let desk = Desk::new();
    let said = desk.refused("run 1RA1RA --steps 1000000000000 --memory 300M");
    assert!(said.contains("--memory"), "{said}");
    desk.refused("run 1RA1RA --steps 1000000000000 --memory 300M --picture out.png");
    assert!(!desk.0.path().join("out.png").exists());
    desk.survives("trace 1RA1RA --steps 3000000 --memory 300M");
    desk.survives("report 1RA1RA -o out.html --steps 1000000000 --moments 2 --memory 40M");
}

/// A model that claims to be larger than memory.
#[test]
fn a_model_that_claims_too_much_is_refused() {
    let desk = Desk::new();
    let data = learner("mean.csv");
    let train = format!("train mean --data {data} --target y --out model.safetensors");
    assert_eq!(desk.survives(&train).status.code(), Some(0));
    let path = desk.0.path().join("model.safetensors");
    let mut model = Model::load(&path).expect("a model");
    model.card.options.cells = Some(1 << 28);
    model.save(&path).expect("a file");
    for line in [
        "export model.safetensors --graph graph.json".to_owned(),
        format!("certify model.safetensors --data {data}"),
        format!("certify model.safetensors --data {data} --quick"),
        format!("report model.safetensors -o out.html --data {data}"),
    ] {
        desk.refused(&line);
    }
    desk.survives("inspect model.safetensors");
    desk.survives(&format!("predict model.safetensors {data}"));
}

/// Files made to be expensive: many findings, long lines, aliases of aliases, words without end.
#[test]
fn files_that_are_hard_to_read_are_read_or_refused() {
    let desk = Desk::new();
    desk.write("rules.txt", "0 1 1 r 0\n".repeat(100_000));
    desk.write("rules.tms", format!("name: x\ninit: a\naccept: b\n\n{}", "a,0\na,0,>\n\n".repeat(50_000)));
    desk.write("long.tm", format!("machine \"x\"\ntape t: 0 1 blank 0\n{} ?\n", " ".repeat(200_000)));
    desk.write("long.yaml", format!("blank: 0\nstart state: a\ntable:\n  a: {{{} ?", " ".repeat(200_000)));
    // Findings far to the right, in every format.
    let far = " ".repeat(70_000);
    desk.write("far.bb", format!("1RB{far}?\n"));
    desk.write("far.morphett", format!("0 1{far}1 x 0\n"));
    desk.write("far.tms", format!("name: x\ninit: a\naccept: b\n\na,0\na,{far}0,?\n"));
    desk.write("far.jff", format!("<structure>{far}<oops></structure>"));
    desk.write("far.sled", format!("learner l({far}?) {{}}\n"));
    let aliases = format!("table: &s\n  a: [{}]\n", "*s, ".repeat(32_000));
    desk.write("alias.yaml", format!("blank: 0\nstart state: a\n{aliases}"));
    desk.write("deep.jff", "<a>".repeat(100_000));
    desk.write("deep.sled", format!("learner l() {{ let x = {}1; }}\n", "(".repeat(100_000)));
    desk.write("escape.tm", "machine \"\x1b[2J\"\ntape \x1b]0;x\x07: 0\n");
    let wide: Vec<String> = (0..50_000).map(|i| format!("c{i}")).collect();
    desk.write("wide.csv", format!("{},y\n{}1\n", wide.join(","), "1,".repeat(50_000)));
    let words: String = (0..50_000).map(|i| format!("w{i},{}\n", i % 2)).collect();
    desk.write("words.csv", format!("x,y\n{words}"));
    desk.write("quote.csv", format!("x,y\n\"{}\n", "1,2\n".repeat(100_000)));
    for line in [
        "run rules.txt",
        "run rules.tms",
        "run long.tm",
        "run long.yaml",
        "run far.bb",
        "run far.morphett",
        "run far.tms",
        "run far.jff",
        "compile far.sled --data words.csv --target y",
        "run alias.yaml",
        "run deep.jff",
        "compile deep.sled --data words.csv --target y",
        "run escape.tm",
        "train mean --data wide.csv --target y",
        "train mean --data words.csv --target y",
        "train mean --data words.csv --target y --one-hot",
        "train mean --data quote.csv --target y",
    ] {
        let output = desk.survives(line);
        assert!(output.stderr.len() < 1 << 20, "{line}: {} bytes of findings", output.stderr.len());
        assert!(
            !output.stderr.contains(&0x07) && !output.stderr.windows(4).any(|w| w == b"\x1b[2J"),
            "{line}"
        );
    }
}

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
        let said = desk.refused(line);
        assert!(!said.trim().is_empty(), "{line}");
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

/// What a number is too large for is said, with the numbers that are not.
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
        "learner endless(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {\n    let on: bit = true;\n    \
         while on {\n        theta[0] += 1;\n    }\n}\n",
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
