//! Processes that are killed, disks that are full, folders that are in the way: a result is whole or absent, and what happened is said.

use std::{fs, process::Command, thread, time::Duration};

use super::{Desk, learner};

/// Everything in the folder; what is left of killed processes does not count.
fn files(desk: &Desk) -> Vec<String> {
    let entries = fs::read_dir(desk.path("")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with(".luge-")).collect();
    names.sort();
    names
}

/// Writes fail after every so many kilobytes, with the signal that a file is too large and without.
#[test]
fn writes_that_fail_are_said_and_leave_nothing_half_written() {
    let desk = Desk::new();
    let data = learner("mean.csv");
    let train = format!("train mean --data {data} --target y");
    assert_eq!(
        desk.survives(&format!("{train} --out model.safetensors --record run.record")).status.code(),
        Some(0)
    );
    let mut n = [0; 2];
    for blocks in [0, 1, 2, 4, 8, 16, 32, 64, 1 << 20] {
        for signal in ["", "trap \"\" XFSZ;"] {
            for (line, result) in [
                (format!("{train} --out out.safetensors"), "out.safetensors"),
                (format!("{train} --record out.record"), "out.record"),
                ("export model.safetensors --graph out.json".to_owned(), "out.json"),
                (format!("{train} --plot out.svg"), "out.svg"),
                ("report mean -o out.html".to_owned(), "out.html"),
            ] {
                let before = files(&desk);
                let output = desk.attack_under(&format!("{signal} ulimit -f {blocks};"), &line);
                let said = String::from_utf8_lossy(&output.stderr);
                let written = desk.path(result).exists();
                match output.status.code() {
                    Some(0) => assert!(written, "{line} with {blocks} blocks"),
                    Some(1 | 2) => {
                        assert!(
                            !written && said.contains("cannot write"),
                            "{line} with {blocks} blocks: {said}"
                        );
                        assert_eq!(files(&desk), before, "{line} with {blocks} blocks");
                    }
                    other => panic!("{line} with {blocks} blocks: {other:?}, {:?}\n{said}", output.status),
                }
                n[usize::from(written)] += 1;
                let _ = fs::remove_file(desk.path(result));
            }
        }
    }
    println!("failing writes: {} refused, {} written whole", n[0], n[1]);
    assert!(n[0] > 0 && n[1] > 0);
}

/// Killed at any moment, a run leaves a whole file or none.
#[test]
fn killed_runs_leave_whole_files() {
    let desk = Desk::new();
    let (mut whole, mut absent) = (0, 0);
    for round in 0..12_u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_luge"))
            .args([
                "train",
                "mean",
                "--data",
                &learner("mean.csv"),
                "--target",
                "y",
                "--force",
                "--out",
                "m.safetensors",
            ])
            .current_dir(desk.path(""))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("luge");
        thread::sleep(Duration::from_millis(7 * round));
        child.kill().expect("it is ours");
        child.wait().expect("its end");
        if desk.path("m.safetensors").exists() {
            assert_eq!(desk.survives("inspect m.safetensors").status.code(), Some(0));
            whole += 1;
        } else {
            absent += 1;
        }
    }
    println!("kills: {whole} whole files, {absent} absent, none in between");
}

/// Less and less room for memory: words, or the runtime's own message, and nothing half written.
#[test]
fn memory_that_ends_leaves_nothing_half_written() {
    let desk = Desk::new();
    let data = learner("mean.csv");
    let line = format!("train mean --data {data} --target y --out out.safetensors");
    let mut ends = [0; 3];
    for kilobytes in
        [4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 96_000, 128_000, 256_000, 1_000_000]
    {
        let output = desk.attack_under(&format!("ulimit -v {kilobytes};"), &line);
        let (said, written) =
            (String::from_utf8_lossy(&output.stderr), desk.path("out.safetensors").exists());
        assert_eq!(written, output.status.success(), "{kilobytes} kilobytes: {said}");
        assert!(!said.contains("panicked") || said.contains("memory") || said.contains("thread"), "{said}");
        assert!(output.status.success() || !said.trim().is_empty(), "{kilobytes} kilobytes: nothing is said");
        ends[match output.status.code() {
            Some(0) => 0,
            Some(_) => 1,
            None => 2,
        }] += 1;
        let _ = fs::remove_file(desk.path("out.safetensors"));
    }
    println!(
        "memory: {} runs to their end, {} refused in words, {} ended by the runtime's message",
        ends[0], ends[1], ends[2]
    );
    assert!(ends[0] > 0);
}

/// Reading is bounded by --memory as everything else is.
#[test]
fn readers_take_no_more_than_memory_allows() {
    let desk = Desk::new();
    desk.write("large.sled", "// a comment\n".repeat(1 << 20));
    let lines = [
        "run /dev/zero --memory 100M",
        "check /dev/zero --memory 100M",
        "fmt /dev/zero --memory 100M",
        "check large.sled --memory 100M",
        "fmt large.sled --memory 100M",
        "convert /dev/zero x.tm --memory 100M",
        "train mean --data /dev/zero --target y --memory 100M",
        "inspect /dev/zero --memory 100M",
    ];
    for line in lines {
        let output = desk.attack_under("ulimit -v 600000;", line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: {:?}\n{said}", output.status);
        assert!(said.contains("--memory"), "{line}: {said}");
    }
    println!("bounded readers: {} refused", lines.len());
}

/// What cannot be read says what to do about it.
#[test]
fn folders_and_bytes_that_are_no_text_come_with_help() {
    let desk = Desk::new();
    desk.write("x.sled", b"learner \xff".as_slice());
    desk.write("x.tm", b"machine \xff".as_slice());
    desk.write("x.csv", b"x,y\n\xff\xfe\xfd,1\n".as_slice());
    for line in
        ["check x.sled", "fmt x.sled", "run x.tm", "run .", "check .", "train mean --data . --target y"]
    {
        let said = desk.refused(line);
        assert!(said.contains("help:"), "{line}: {said}");
    }
}
