//! Files with changed bytes: read or refused, and no damaged model or checkpoint is taken for a whole one.

use super::{Desk, learner};

/// Changed copies of each file, more with LUGE_CASES.
fn n_changed() -> u64 {
    std::env::var("LUGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

/// The same number for the same seed.
fn mixed(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

/// Some bytes changed, cut off, put in or repeated.
fn change(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for n in 0..1 + seed % 3 {
        let number = mixed(seed * 31 + n);
        let at = (number % changed.len().max(1) as u64) as usize;
        match number >> 40 & 3 {
            0 => changed[at] ^= 1 << (number >> 50 & 7),
            1 => changed.truncate(at.max(1)),
            2 => changed.insert(at, (number >> 48) as u8),
            _ => {
                let piece = changed[at..(at + 16).min(changed.len())].to_vec();
                changed.splice(at..at, piece);
            }
        }
    }
    changed
}

#[test]
fn changed_files_are_read_or_refused() {
    let desk = Desk::new();
    let (sled, csv) = (learner("mean.sled"), learner("mean.csv"));
    let train = format!("train mean --data {csv} --target y --out model.safetensors --record run.record");
    assert_eq!(desk.survives(&train).status.code(), Some(0));
    let read = |path: &std::path::Path| std::fs::read(path).expect("a file");
    let files = [
        ("x.sled", read(sled.as_ref()), format!("check x.sled"), false),
        ("x.csv", read(csv.as_ref()), "train mean --data x.csv --target y --steps 100000".to_owned(), false),
        ("x.bb", b"1RB1LB_1LA0LC_1RZ1LD_1RD0RA\n".to_vec(), "run x.bb --steps 10000".to_owned(), false),
        (
            "x.safetensors",
            read(&desk.path("model.safetensors")),
            format!("certify x.safetensors --data {csv}"),
            true,
        ),
        ("x.record", read(&desk.path("run.record")), "revisit x.record 5".to_owned(), true),
    ];
    for (name, whole, line, sealed) in files {
        let mut ends = [0; 4];
        for seed in 0..n_changed() {
            let changed = change(&whole, seed);
            desk.write(name, &changed);
            let code = desk.survives(&line).status.code().expect("a status") as usize;
            ends[code] += 1;
            assert!(
                !sealed || changed == whole || code != 0,
                "{name}: change {seed} was taken for the whole file"
            );
        }
        println!("{name}: {} changed files, statuses 0 to 3: {ends:?}", n_changed());
    }
}
