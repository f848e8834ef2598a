//! Too much of everything, runs that are killed, and writes that fail: a result is whole or absent, and what happened
//! is said.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{Desk, n_cases, said};

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
    desk.done("train --cells 4000000");
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
    assert!(!desk.path("out.png").exists());
    desk.survives("trace 1RA1RA --steps 3000000 --memory 300M");
    desk.survives("report 1RA1RA -o out.html --steps 1000000000 --moments 2 --memory 40M");
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

/// The system limits the size of files: the command reports that, and leaves no file behind.
#[test]
fn writes_that_fail_leave_nothing_half_written() {
    let desk = Desk::with_learner();
    let train = "train sum.sled --data data.csv --target y --format fix:5.0";
    desk.done(&format!("{train} --out model.safetensors --checkpoint run.checkpoint --every 0s"));
    let mut n = [0; 2];
    for (line, result) in [
        (format!("{train} --out out.safetensors"), "out.safetensors"),
        (format!("{train} --record out.record"), "out.record"),
        (format!("{train} --checkpoint out.checkpoint --every 0s"), "out.checkpoint"),
        (format!("{train} --plot out.svg"), "out.svg"),
        ("resume run.checkpoint --out out.safetensors".to_owned(), "out.safetensors"),
        ("export model.safetensors --graph out.json".to_owned(), "out.json"),
        ("report sum.sled --data data.csv --target y --format fix:5.0 -o out.html".to_owned(), "out.html"),
        ("run 1RB1LB_1LA1RZ --picture out.png".to_owned(), "out.png"),
    ] {
        desk.done(&line);
        let whole = desk.read(result);
        let before: Vec<String> = desk.files().into_iter().filter(|name| name != result).collect();
        let blocks = whole.len().div_ceil(512);
        // Some lengths of the file, and one that has room for it and for what the run itself writes.
        let step = (blocks / n_cases(3) as usize).max(1);
        for allowed in (0..blocks).step_by(step).chain([1 << 20]) {
            fs::remove_file(desk.path(result)).ok();
            let output = desk.under(&format!("ulimit -f {allowed}"), &line);
            let said = said(&output);
            let context = format!("{line} with {allowed} of {blocks} blocks: {:?}\n{said}", output.status);
            match output.status.code() {
                Some(0) => assert_eq!(desk.read(result).len(), whole.len(), "{context}"),
                Some(1) => {
                    assert!(said.contains("cannot write"), "{context}");
                    assert_eq!(desk.files(), before, "{context}");
                }
                _ => panic!("{context}"),
            }
            n[usize::from(output.status.success())] += 1;
        }
        fs::remove_file(desk.path(result)).ok();
    }
    println!("failing writes: {} refused, {} written whole", n[0], n[1]);
    assert!(n[0] >= 8 && n[1] >= 8);
}

/// A full disk under standard output is reported as a failure.
#[test]
fn results_that_cannot_be_printed_are_failures() {
    let desk = Desk::with_learner();
    for line in ["run 1RB1LB_1LA1RZ", "learners", "check sum.sled", "inspect bb4 --json"] {
        let output = desk.under("exec >/dev/full", line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", said(&output));
        assert!(said(&output).contains("cannot print"), "{line}: {}", said(&output));
    }
}

/// Less and less memory from the system itself: words of ours or of the runtime, and nothing half written.
#[test]
fn memory_that_ends_leaves_nothing_half_written() {
    let desk = Desk::with_learner();
    let line = "train sum.sled --data data.csv --target y --format fix:5.0 --out out.safetensors";
    desk.done(line);
    let whole = desk.read("out.safetensors");
    let mut ends = [0; 3];
    for megabytes in (0..n_cases(12)).map(|n| 40 + 8 * n).chain([1000]) {
        fs::remove_file(desk.path("out.safetensors")).ok();
        let output = desk.under(&format!("ulimit -v {}", megabytes << 10), line);
        let (said, written) = (said(&output), desk.path("out.safetensors").exists());
        assert!(output.status.success() || !said.trim().is_empty(), "{megabytes} MiB: {:?}", output.status);
        assert!(!written || desk.read("out.safetensors") == whole, "{megabytes} MiB: half a file");
        ends[match (output.status.code(), output.status.signal()) {
            (Some(0), _) => 0,
            (Some(1..=3 | 127), _) => 1,
            (None, Some(6)) if said.contains("memory allocation of") => 2,
            other => panic!("{megabytes} MiB: {other:?}\n{said}"),
        }] += 1;
    }
    println!("memory: {} runs complete, {} refused, {} ended by the runtime", ends[0], ends[1], ends[2]);
    assert!(ends[0] > 0 && ends[1] + ends[2] > 0);
}

/// A run that is killed leaves a complete file or none, and the next run removes leftovers.
#[test]
fn killed_runs_leave_whole_files() {
    let desk = Desk::with_learner();
    let line = "train sum.sled --data data.csv --target y --format fix:5.0 --force --out m.safetensors";
    let mut n = [0; 2];
    for round in 0..n_cases(25) {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.args(line.split(' ')).current_dir(desk.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = luge.spawn().expect("luge");
        thread::sleep(Duration::from_millis(4 * (round % 50)));
        child.kill().expect("it is ours");
        child.wait().expect("its end");
        let written = desk.path("m.safetensors").exists();
        if written {
            desk.done("inspect m.safetensors");
            fs::remove_file(desk.path("m.safetensors")).expect("a file");
        }
        n[usize::from(written)] += 1;
    }
    desk.done(line);
    let left = fs::read_dir(desk.path("")).expect("a folder").count();
    assert_eq!(left, 3, "the learner, its data and the model");
    println!("kills: {} without a file, {} with a whole one", n[0], n[1]);
}

/// Reading takes no more than `--memory` allows, from devices that never end and from large files.
#[test]
fn reading_is_bounded() {
    let desk = Desk::with_learner();
    desk.write("large.sled", "// a comment\n".repeat(1 << 20));
    let lines = [
        "run /dev/zero --memory 100M",
        "check /dev/zero --memory 100M",
        "fmt /dev/zero --memory 100M",
        "check large.sled --memory 100M",
        "fmt large.sled --memory 100M",
        "convert /dev/zero x.tm --memory 100M",
        "inspect /dev/zero --memory 100M",
        "resume /dev/zero --memory 100M",
        "certify /dev/zero --data data.csv --memory 100M",
        "train sum.sled --data /dev/zero --target y --memory 100M",
        "stream stream_mean --data /dev/zero --target y --memory 100M",
    ];
    for line in lines {
        let output = desk.under("ulimit -v 700000", line);
        let said = said(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: {:?}\n{said}", output.status);
        assert!(said.contains("--memory"), "{line}: {said}");
    }
    println!("readers: {} inputs without an end refused", lines.len());
}

/// What cannot be read comes with advice.
#[test]
fn folders_and_bytes_that_are_no_text_come_with_help() {
    let desk = Desk::with_learner();
    desk.write("x.sled", b"learner \xff");
    desk.write("x.tm", b"machine \xff");
    for line in [
        "check x.sled",
        "fmt x.sled",
        "compile x.sled --data data.csv --target y",
        "train x.sled --data data.csv --target y",
        "run x.tm",
        "trace x.tm",
        "run .",
        "check .",
        "fmt .",
        "train sum.sled --data . --target y",
        "resume .",
        "certify . --data data.csv",
    ] {
        let said = desk.refused(line);
        assert!(said.contains("help:"), "{line}: {said}");
    }
}

/// A file that appears during a run is replaced with --force. Otherwise the result gets another name, and the message
/// says so.
#[test]
fn a_file_that_appears_meanwhile_costs_no_result() {
    for (force, status, saved) in [(&["--force"][..], 0, "m"), (&[], 1, "m-1")] {
        let desk = Desk::new();
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.args("train --out m --checkpoint run --every 0s".split(' ')).args(force);
        luge.current_dir(desk.path("")).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = luge.spawn().expect("luge");
        // Once there is a checkpoint, the names were looked at and training has begun.
        while !desk.path("run").exists() && child.try_wait().expect("a child").is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        desk.write("m", "theirs");
        let output = child.wait_with_output().expect("its end");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(status == 0 || said.contains("the result is in m-1"), "{said}");
        desk.done(&format!("inspect {saved}"));
        assert!(status == 0 || desk.read("m") == b"theirs");
    }
}

/// The size of a large record is announced while it grows, before it is written.
#[test]
fn the_size_of_a_large_record_is_said() {
    let desk = Desk::new();
    let line = "trace 1RA1RA --steps 4_000_000 --record run.record";
    let output = desk.under("ulimit -v 8000000", line);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("the record may grow to"), "{}", said(&output));
    let output = desk.under("ulimit -v 8000000", "revisit run.record 0");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
