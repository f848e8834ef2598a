//! Every reader on texts and bytes that are almost right: the cases of the repository and the seeds in `fuzz/seeds`, cut,
//! spliced and changed at random. Each must be read or refused, never more.
//!
//! `LUGE_TEST=fuzz=600 cargo test --test fuzz` runs for ten minutes; `LUGE_TEST="fuzz=600 seed=7"` uses another seed. What a target demands is
//! what the targets of cargo-fuzz demand: the same code.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the targets of cargo-fuzz are crates of their own")]
mod demands;

use std::{
    fs,
    ops::ControlFlow,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use luge::{
    data::{ClassCode, Missing, PrepareOptions, Scale, Split, Table, decode},
    files::{
        checkpoint::{Checkpoint, Frame},
        model::Model,
    },
    job::{Job, TrainJob, source::Source},
    run::run_stats::RunStats,
};
use luge_machine::formats::{Format, recognise};
use luge_train::{CacheLevel, Snapshot};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files of some folders, whatever they are called.
fn corpus(folders: &[&str]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for folder in folders {
        let place = root().join(folder);
        let entries = fs::read_dir(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        files.extend(paths.iter().filter(|path| path.is_file()).map(|path| fs::read(path).expect("a file")));
    }
    assert!(!files.is_empty(), "{folders:?}");
    files
}

/// Seconds for every target.
fn patience() -> Duration {
    const TARGETS: f64 = 12.0;
    let all = luge_suite::number("fuzz", 3.0);
    Duration::from_secs_f64(all / TARGETS)
}

/// Pieces that readers look for, and numbers at which things break.
const PIECES: [&str; 24] = [
    "\n",
    "\r\n",
    "\t",
    ",",
    ";",
    "\"",
    "'",
    "\u{feff}",
    "\u{1b}[2J",
    "\0",
    "->",
    "*",
    "&a",
    "*a",
    "!",
    "~",
    "[",
    "{",
    "1RB1LB_1LA1RZ",
    "-1",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "日本",
];

struct Mutator {
    random: ChaCha8Rng,
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.random.next_u64() % (n.max(1) as u64)).expect("small")
    }

    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let (a, b) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
        a.min(b)..a.max(b).min(a.min(b) + 64)
    }

    /// One of the corpus with a few changes.
    fn next(&mut self) -> Vec<u8> {
        let at = self.below(self.corpus.len());
        let mut bytes = self.corpus[at].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes.truncate(1 << 16);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let range = self.range(bytes);
        match self.below(7) {
            0 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            1 => drop(bytes.drain(range)),
            2 => {
                let copy = bytes[range.clone()].to_vec();
                let times = 1 + self.below(50);
                bytes.splice(range.end..range.end, copy.repeat(times));
            }
            3 => {
                let piece = PIECES[self.below(PIECES.len())];
                bytes.splice(range.start..range.start, piece.bytes());
            }
            4 => bytes.truncate(range.start),
            5 => {
                let at = self.below(self.corpus.len());
                let other = self.corpus[at].clone();
                let part = self.range(&other);
                bytes.splice(range, other[part].iter().copied());
            }
            _ => {
                let byte = u8::try_from(self.below(256)).expect("a byte");
                bytes.splice(range, [byte]);
            }
        }
    }
}

/// Reads one input after another until the time is over.
fn fuzz(corpus: Vec<Vec<u8>>, target: impl Fn(&[u8])) {
    let seed = luge_suite::number("seed", 1);
    let untouched = corpus.clone();
    let mut mutator = Mutator { random: ChaCha8Rng::seed_from_u64(seed), corpus };
    let started = Instant::now();
    let mut n_inputs = 0;
    for input in untouched {
        survive(&input, &target);
    }
    while started.elapsed() < patience() || n_inputs < 100 {
        survive(&mutator.next(), &target);
        n_inputs += 1;
    }
}

#[expect(clippy::print_stderr, reason = "whoever runs the test wants to know where the input is")]
fn survive(input: &[u8], target: &impl Fn(&[u8])) {
    if let Err(cause) = panic::catch_unwind(AssertUnwindSafe(|| target(input))) {
        let place = std::env::temp_dir().join(format!("luge-fuzz-{}", input.len()));
        fs::write(&place, input).expect("a file");
        eprintln!("the input is kept in {}: {:?}", place.display(), String::from_utf8_lossy(input));
        panic::resume_unwind(cause);
    }
}

fn fuzz_text(folders: &[&str], target: impl Fn(&str)) {
    fuzz(corpus(folders), |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            target(text);
        }
    });
}

macro_rules! formats {
    ($($name:ident, $folder:literal, $format:ident;)*) => {$(
        #[test]
        fn $name() {
            let folders = [concat!("tests/suite/formats/", $folder), concat!("fuzz/seeds/", $folder)];
            fuzz_text(&folders, |text| demands::check(Format::$format, text));
        }
    )*};
}

formats! {
    bbchallenge, "bbchallenge", Bbchallenge;
    jflap, "jflap", Jflap;
    morphett, "morphett", Morphett;
    native, "native", Native;
    turingmachine_io, "turingmachine-io", TuringMachineIo;
    turingmachinesimulator, "turingmachinesimulator", TuringMachineSimulator;
}

#[test]
fn recognition() {
    let folders =
        ["bbchallenge", "jflap", "morphett", "native", "turingmachine-io", "turingmachinesimulator"]
            .map(|folder| format!("tests/suite/formats/{folder}"));
    fuzz_text(&folders.each_ref().map(String::as_str), |text| {
        for extension in [None, Some("tm"), Some("yaml")] {
            let _ = recognise(extension, text);
        }
    });
}

#[test]
fn sled() {
    fuzz_text(&["crates/luge/learners", "fuzz/seeds/sled"], demands::check_program);
}

/// A table is read in every way, or refused at a place; what is read has as many numbers as it says, all of them finite.
#[test]
fn tables() {
    let all = PrepareOptions {
        missing: Missing::Mean,
        scale: Scale::Standard,
        one_hot: true,
        classes: ClassCode::Auto,
        split: Some(Split { fraction: 0.3, seed: 1 }),
    };
    let asked = [
        PrepareOptions::default(),
        all,
        PrepareOptions { missing: Missing::Drop, scale: Scale::MinMax, ..PrepareOptions::default() },
    ];
    fuzz(corpus(&["fuzz/seeds/table", "crates/luge/data"]), |bytes| {
        let Ok(text) = decode(bytes.to_vec()) else { return };
        let header = text.lines().next().unwrap_or_default();
        let target = header.split([',', ';', '\t']).next_back().unwrap_or_default().trim().to_owned();
        for asked in &asked {
            let Ok(table) = Table::read_prepared(&text, std::slice::from_ref(&target), None, asked) else {
                continue;
            };
            assert_eq!(table.features.shape.cols, table.feature_names.len());
            assert!(table.features.data.iter().chain(&table.labels.data).all(|number| number.is_finite()));
            let again = table.preparation.read_new(&text);
            assert!(asked.missing == Missing::Drop || again.is_ok(), "{again:?}");
        }
    });
}

/// A small lesson that ships, trained.
fn trained() -> (Vec<u8>, Vec<u8>) {
    let source = Source::open("copy_label").expect("it ships");
    let job = TrainJob::of(source).expect("a job");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
    let model = Model::new(&lesson, &report).to_bytes("it").expect("bytes");
    let (engine, _) =
        lesson.task().open(CacheLevel::Steps, None).map(|(e, c)| (e.snapshot(), c)).expect("an engine");
    let checkpoint = Checkpoint {
        job: Job::Train(job),
        network: String::new(),
        seen: RunStats::default(),
        record: false,
        ended: None,
        frames: vec![Frame::new(&engine)],
    };
    (model, checkpoint.to_bytes().expect("bytes"))
}

#[test]
fn models() {
    fuzz(vec![trained().0], |bytes| {
        if let Ok(model) = Model::from_bytes(bytes, "it".to_owned()) {
            let _ = model.primary();
        }
    });
}

#[test]
fn checkpoints() {
    fuzz(vec![trained().1], |bytes| {
        if let Ok(checkpoint) = Checkpoint::from_bytes(bytes, "it") {
            let _ = checkpoint.last();
        }
    });
}

/// Below the checksum: the weights themselves.
#[test]
fn snapshots() {
    let checkpoint = Checkpoint::from_bytes(&trained().1, "it").expect("a checkpoint");
    fuzz(vec![checkpoint.last().expect("a snapshot").to_bytes()], |bytes| {
        if let Ok(snapshot) = Snapshot::from_bytes(bytes) {
            let bytes = snapshot.to_bytes();
            // By their bytes: no number that is none equals itself.
            assert_eq!(Snapshot::from_bytes(&bytes).map(|again| again.to_bytes()), Ok(bytes));
        }
    });
}
