//! Files with changed bytes: read or refused, and no changed model or checkpoint is taken for the whole one.

use super::{Desk, SUM, n_cases};

/// Random numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// Some bytes changed, cut off, put in or repeated.
fn change(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..=draw.next(3) {
        let at = draw.next(changed.len());
        match draw.next(4) {
            0 => changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << draw.next(8)),
            1 => changed.truncate(at),
            2 => changed.insert(at, draw.next(256) as u8),
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
    let desk = Desk::with_learner();
    let train = "train sum.sled --data data.csv --target y --format fix:5.0";
    desk.done(&format!("{train} --out model --record record --checkpoint checkpoint --every 0s"));
    let machine = b"machine \"m\"\ntape t: 0 1 blank 0\nstart: a\n\na:\n  0 -> 1, R, b\n\nb: accept\n";
    let read = |name| desk.read(name);
    let files = [
        ("x.sled", SUM.into(), "check x.sled", false),
        (
            "x.sled",
            SUM.into(),
            "train x.sled --data data.csv --target y --format fix:5.0 --steps 10000",
            false,
        ),
        ("x.csv", read("data.csv"), "train sum.sled --data x.csv --target y --steps 10000", false),
        ("x.bb", b"1RB1LB_1LA0LC_1RZ1LD_1RD0RA\n".into(), "run x.bb --steps 10000", false),
        ("x.tm", machine.into(), "trace x.tm --steps 1000", false),
        ("x.model", read("model"), "certify x.model --data data.csv", true),
        ("x.model", read("model"), "predict x.model data.csv", true),
        ("x.record", read("record"), "revisit x.record 5", true),
        ("x.checkpoint", read("checkpoint"), "resume x.checkpoint", true),
    ];
    let mut draw = Draw(1);
    for (name, whole, line, sealed) in files {
        let mut statuses = [0; 4];
        for _ in 0..n_cases(16) {
            let changed = change(&whole, &mut draw);
            desk.write(name, &changed);
            let status = desk.survives(line).status.code().expect("a status") as usize;
            statuses[status] += 1;
            assert!(!sealed || changed == whole || status != 0, "{line}: a changed file was accepted");
        }
        println!("{line}: {} changed files, by status {statuses:?}", n_cases(16));
    }
}
