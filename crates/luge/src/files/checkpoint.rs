//! Stores long runs: checkpoints to resume from, and records of which any step can be revisited.
//!
//! A file contains the job, from which the network is built again, and the digest of the network, so that no other
//! network is trained from it.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use luge_net::Network;
use luge_train::Snapshot;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    files::{FileError, atomic_file, bounded, json::hexadecimal},
    job::Job,
    run::{
        decimated::{Decimated, Thin},
        run_stats::RunStats,
    },
};

const MAGIC: &[u8; 16] = b"luge checkpoint\n";
const VERSION: u32 = 4;
const DIGEST: usize = 32;

/// The state of a run at one step, or at many, and everything needed to resume it.
#[derive(Clone, PartialEq, Debug)]
pub struct Checkpoint {
    /// The job that is run.
    pub job: Job,
    /// The digest of the network.
    pub network: String,
    /// The statistics until the last snapshot.
    pub seen: RunStats,
    /// Whether this is a record, to be revisited, rather than a checkpoint to resume from.
    pub record: bool,
    /// The last step of the run, if it has ended.
    pub ended: Option<u64>,
    /// The weights: at one step in a checkpoint, at many in a record.
    pub frames: Vec<Frame>,
}

/// The weights at one step, packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Gradient steps made.
    pub step: u64,
    bytes: Vec<u8>,
}

impl Frame {
    /// Packs a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        Self { step: snapshot.step, bytes: snapshot.to_bytes() }
    }

    /// Its size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Unpacks the snapshot; `None` if the bytes are invalid.
    pub fn snapshot(&self) -> Option<Snapshot> {
        Snapshot::from_bytes(&self.bytes).ok().filter(|snapshot| snapshot.step == self.step)
    }
}

impl Thin for Frame {}

/// Why a file is not a checkpoint, or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] FileError),
    /// Not a checkpoint, another version of the format, a damaged file, or another network.
    #[error("{name} {problem}")]
    Invalid {
        /// The file.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A record has no statistics to resume from.
    #[error(
        "{0} is a record, not a checkpoint: its steps can be revisited, but the run cannot be resumed from it"
    )]
    IsRecord(String),
}

impl CheckpointError {
    fn invalid(name: &str, problem: &str) -> Self {
        Self::Invalid { name: name.to_owned(), problem: problem.to_owned() }
    }
}

/// The part of the file that is JSON.
#[derive(Serialize, Deserialize)]
struct Head {
    job: Job,
    network: String,
    seen: RunStats,
    record: bool,
    ended: Option<u64>,
    /// The step and the bytes of each snapshot that follows.
    frames: Vec<(u64, usize)>,
}

/// Returns the SHA-256 of the whole network in hexadecimal.
pub fn network_digest(network: &Network) -> String {
    struct Sink(Sha256);
    impl std::fmt::Write for Sink {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut sink = Sink(Sha256::new());
    // Writing into a digest does not fail.
    let _ = std::fmt::Write::write_fmt(&mut sink, format_args!("{network:?}"));
    hexadecimal(&sink.0.finalize())
}

/// Returns the SHA-256 of a snapshot's weights in hexadecimal; it does not depend on the stored number of blank cells.
pub fn snapshot_digest(snapshot: &Snapshot) -> String {
    hexadecimal(&Sha256::digest(snapshot.trimmed().weight_bytes()))
}

impl Checkpoint {
    /// Writes the file: complete or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let bytes = self.to_bytes().map_err(|reason| FileError::new("write", path, reason))?;
        Ok(atomic_file::write(path, &bytes)?)
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let head = Head {
            job: self.job.clone(),
            network: self.network.clone(),
            seen: self.seen.clone(),
            record: self.record,
            ended: self.ended,
            frames: self.frames.iter().map(|frame| (frame.step, frame.bytes.len())).collect(),
        };
        let head = serde_json::to_vec(&head)?;
        let length = (head.len() as u64).to_le_bytes();
        let version = VERSION.to_le_bytes();
        let mut parts = vec![&MAGIC[..], &version, &length, &head];
        parts.extend(self.frames.iter().map(|frame| &frame.bytes[..]));
        let mut bytes = parts.concat();
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        Ok(bytes)
    }

    /// Whether a file begins like a checkpoint or a record.
    pub fn begins(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        path.is_file()
            && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && &start == MAGIC
    }

    /// Reads a file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// If it cannot be read, is not a checkpoint, or is damaged or inconsistent.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        Self::from_bytes(&bounded::read(path, 4)?, &path.display().to_string())
    }

    /// Reads the bytes of a file; messages call it `name`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, CheckpointError> {
        let invalid = |problem: &str| CheckpointError::invalid(name, problem);
        let damaged = || invalid("is damaged: its checksum does not match its content");
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| invalid("is not a checkpoint of luge"))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let found = u32::from_le_bytes(*version);
        if found != VERSION {
            let problem =
                format!("has version {found} of the checkpoint format; this program knows {VERSION}");
            return Err(invalid(&problem));
        }
        let (content, digest) = bytes.split_last_chunk::<DIGEST>().ok_or_else(damaged)?;
        if Sha256::digest(content)[..] != digest[..] {
            return Err(damaged());
        }
        let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (head, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
        let mut packed = &rest[..rest.len().saturating_sub(DIGEST)];
        let head: Head = serde_json::from_slice(head)
            .map_err(|error| invalid(&format!("has invalid content: {error}")))?;
        let mut frames = Vec::new();
        for &(step, length) in &head.frames {
            let (bytes, rest) = packed.split_at_checked(length).ok_or_else(damaged)?;
            frames.push(Frame { step, bytes: bytes.to_vec() });
            packed = rest;
        }
        let sound = frames.last().is_some_and(|frame| frame.snapshot().is_some());
        if !sound || !packed.is_empty() {
            return Err(invalid("has invalid content: it does not hold the weights it announces"));
        }
        let Head { job, network, seen, record, ended, .. } = head;
        Ok(Self { job, network, seen, record, ended, frames })
    }

    /// Checks that a network is the one that was trained.
    ///
    /// # Errors
    /// If the digests differ.
    pub fn belongs_to(&self, network: &Network, name: &str) -> Result<(), CheckpointError> {
        let (found, expected) = (&self.network, network_digest(network));
        if expected == *found {
            return Ok(());
        }
        let problem = format!("its digest is {found}, that of the network built from it {expected}");
        Err(CheckpointError::invalid(name, &format!("belongs to another network: {problem}")))
    }

    /// Returns the last snapshot.
    pub fn last(&self) -> Option<Snapshot> {
        self.frames.last().and_then(Frame::snapshot)
    }

    /// Returns the last snapshot at or before a step.
    pub fn before(&self, step: u64) -> Option<Snapshot> {
        self.frames.iter().rfind(|frame| frame.step <= step).and_then(Frame::snapshot)
    }
}

/// Collects snapshots. Their spacing doubles when there are many, so that every step is near one of a few.
#[derive(Clone, Debug)]
pub struct Recorder(Decimated<Frame>);

/// The most snapshots of a record.
const MAX_FRAMES: usize = 256;

impl Default for Recorder {
    fn default() -> Self {
        Self(Decimated::new(MAX_FRAMES, 1 << 10))
    }
}

impl Recorder {
    /// Whether to store the iterate after this many steps.
    #[inline]
    pub fn wants(&self, step: u64) -> bool {
        self.0.begins(step)
    }

    /// Stores a snapshot.
    pub fn keep(&mut self, snapshot: &Snapshot) {
        self.0.keep(snapshot.step, Frame::new(snapshot));
    }

    /// Returns a bound on the bytes of the record if no snapshot becomes larger than those stored so far.
    pub fn most_bytes(&self) -> u64 {
        self.0.iter().map(|frame| frame.bytes.len() as u64).max().unwrap_or(0) * MAX_FRAMES as u64
    }

    /// Returns all stored snapshots.
    pub fn frames(&self) -> Vec<Frame> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use luge_train::TapeSnapshot;

    use super::*;
    use crate::{
        job::{TraceJob, source::Source},
        trace::TraceOptions,
    };

    fn checkpoint() -> Checkpoint {
        let tape =
            TapeSnapshot { first: -3, cells: vec![1.0, -1.0, 0.5].into(), head_first: -2, head: vec![1.0] };
        let snapshot =
            Snapshot { step: 7, path: 9, vertices: vec![(3, 1.0)], labels: vec![], tapes: vec![tape] };
        let source = Source { name: "it".to_owned(), text: "machine".to_owned(), extension: None };
        let mut options = TraceOptions { steps: Some(9), ..TraceOptions::default() };
        options.constants.base = Some(0.1);
        let job = Job::Trace(TraceJob { options, ..TraceJob::new(source) });
        let seen = RunStats::default();
        let frames = vec![Frame::new(&snapshot)];
        Checkpoint { job, network: "digest".to_owned(), seen, record: false, ended: None, frames }
    }

    #[test]
    fn a_file_gives_back_what_was_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        checkpoint().save(&path).expect("a file");
        assert_eq!(Checkpoint::load(&path).expect("a checkpoint"), checkpoint());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
    }

    #[test]
    fn every_change_and_every_cut_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        checkpoint().save(&path).expect("a file");
        let bytes = fs::read(&path).expect("bytes");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Checkpoint::from_bytes(&changed, "it").is_err(), "byte {at}");
            assert!(Checkpoint::from_bytes(&bytes[..at], "it").is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_recorder_keeps_few_snapshots_at_even_distances() {
        let mut recorder = Recorder::default();
        let mut snapshot = checkpoint().last().expect("a snapshot");
        for step in (0..1 << 20).step_by(1 << 10) {
            snapshot.step = step;
            if recorder.wants(step) {
                recorder.keep(&snapshot);
            }
        }
        let steps: Vec<u64> = recorder.frames().iter().map(|frame| frame.step).collect();
        assert!(steps.len() <= MAX_FRAMES && steps.len() >= MAX_FRAMES / 2, "{}", steps.len());
        assert!(steps[0] == 0 && steps.windows(2).all(|pair| pair[1] - pair[0] == steps[1]));
    }
}
