//! Checks where a command may write: only to regular files, never over a file that it reads, and over other files only with
//! `force`.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::files::{
    FileError,
    atomic_file::{self, Existing},
};

/// The places that one command writes to.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    force: bool,
    inputs: Vec<PathBuf>,
    taken: Vec<PathBuf>,
}

/// A place that was checked and can be written to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    path: PathBuf,
    existing: Existing,
}

/// Why a place cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A device, a link, a pipe or a folder.
    #[error("{} is {kind}, not a regular file", path.display())]
    NotAFile {
        /// The place.
        path: PathBuf,
        /// What is there.
        kind: &'static str,
    },
    /// The command reads it.
    #[error("{} is read by this command and cannot be written by it", .0.display())]
    Input(PathBuf),
    /// A file is there.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// Two results at one place.
    #[error("{} is named for two results", .0.display())]
    Twice(PathBuf),
    /// Another process created the file while the result was computed.
    #[error("{} has appeared meanwhile: the result is in {}", path.display(), saved.display())]
    Elsewhere {
        /// The place.
        path: PathBuf,
        /// Where the result is instead.
        saved: PathBuf,
    },
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Outputs {
    /// Starts without places; with `force` existing files may be overwritten.
    pub fn new(force: bool) -> Self {
        Self { force, ..Self::default() }
    }

    /// Also protects this input from being overwritten. Names that are not files (`-`, something that ships) are ignored.
    #[must_use]
    pub fn reading(mut self, input: impl AsRef<Path>) -> Self {
        self.inputs.extend(fs::canonicalize(input));
        self
    }

    /// Checks and reserves a place for a result.
    ///
    /// # Errors
    /// If the place is not a regular file, is an input or the place of another result, exists and `force` is not set, or cannot be
    /// written.
    pub fn place(&mut self, path: &Path) -> Result<Output, OutputError> {
        self.place_over(path, |_| false)
    }

    /// The same, except that some files may be replaced without `force`, such as an earlier checkpoint of the same run.
    ///
    /// # Errors
    /// As for [`place`](Self::place).
    pub fn place_over(
        &mut self,
        path: &Path,
        replaceable: impl FnOnce(&Path) -> bool,
    ) -> Result<Output, OutputError> {
        let owned = || path.to_owned();
        let there = fs::symlink_metadata(path).ok();
        if let Some(kind) = there.as_ref().and_then(|there| kind(there.file_type())) {
            return Err(OutputError::NotAFile { path: owned(), kind });
        }
        let full = full_name(path);
        if self.inputs.contains(&full) {
            return Err(OutputError::Input(owned()));
        }
        if self.taken.contains(&full) {
            return Err(OutputError::Twice(owned()));
        }
        // This decision also applies to a file that appears in the meantime.
        let replace = self.force || there.is_some() && replaceable(path);
        if there.is_some() && !replace {
            return Err(OutputError::Exists(owned()));
        }
        atomic_file::sweep(path);
        atomic_file::reserve(path).map_err(|reason| FileError::new("write", path, reason))?;
        self.taken.push(full);
        let existing = if replace { Existing::Replace } else { Existing::Keep };
        Ok(Output { path: owned(), existing })
    }
}

impl Output {
    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file, complete or not at all.
    ///
    /// # Errors
    /// If the file cannot be written. If another process has created it in the meantime, the result is in another file in its folder.
    pub fn write(&self, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
        self.write_with(|out| out.write_all(content.as_ref()))
    }

    /// The same for contents that are produced piece by piece.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_with(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        let written = atomic_file::write_with(&self.path, self.existing, fill);
        let saved = written.map_err(|reason| FileError::new("write", &self.path, reason))?;
        let path = self.path.clone();
        if saved == path { Ok(()) } else { Err(OutputError::Elsewhere { path, saved }) }
    }
}

/// Describes what is at a place that must be a file; `None` for a file.
fn kind(found: fs::FileType) -> Option<&'static str> {
    if found.is_file() {
        None
    } else if found.is_dir() {
        Some("a folder")
    } else if found.is_symlink() {
        Some("a link")
    } else {
        Some("a device or a pipe")
    }
}

/// Returns the canonical name of a place, even if the file does not exist yet.
fn full_name(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new() -> Self {
            let fixture = Self(tempfile::tempdir().expect("a folder"));
            fs::write(fixture.at("there"), "old").expect("a file");
            fixture
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn refusal(&self, outputs: &mut Outputs, name: &str) -> String {
            let message = outputs.place(&self.at(name)).expect_err("refused").to_string();
            message.replace(&format!("{}/", self.0.path().display()), "")
        }
    }

    #[test]
    fn a_file_that_exists_is_replaced_when_asked() {
        let fixture = Fixture::new();
        assert_eq!(fixture.refusal(&mut Outputs::new(false), "there"), "there already exists");
        let output = Outputs::new(true).place(&fixture.at("there")).expect("asked to");
        output.write("new").expect("a file");
        assert_eq!(fs::read(fixture.at("there")).expect("bytes"), b"new");
        let mut outputs = Outputs::new(false);
        assert!(outputs.place_over(&fixture.at("there"), |_| true).is_ok());
    }

    #[test]
    fn inputs_are_never_written_to() {
        let fixture = Fixture::new();
        let mut outputs = Outputs::new(true).reading(fixture.at("there")).reading("-").reading("perceptron");
        let refused = "there is read by this command and cannot be written by it";
        assert_eq!(fixture.refusal(&mut outputs, "there"), refused);
        let winding = fixture.at("folder/../there");
        fs::create_dir(fixture.at("folder")).expect("a folder");
        assert!(matches!(outputs.place(&winding), Err(OutputError::Input { .. })));
    }

    #[test]
    fn one_place_has_one_result() {
        let fixture = Fixture::new();
        let mut outputs = Outputs::new(false);
        outputs.place(&fixture.at("new")).expect("a place");
        assert_eq!(fixture.refusal(&mut outputs, "new"), "new is named for two results");
    }

    #[test]
    fn a_file_written_meanwhile_is_kept() {
        let fixture = Fixture::new();
        let output = Outputs::new(false).place(&fixture.at("new.txt")).expect("a place");
        fs::write(fixture.at("new.txt"), "theirs").expect("a file");
        let said = output.write("ours").expect_err("it is said").to_string();
        assert!(said.contains("new.txt has appeared meanwhile") && said.ends_with("new-1.txt"), "{said}");
        assert_eq!(fs::read(fixture.at("new.txt")).expect("bytes"), b"theirs");
        assert_eq!(fs::read(fixture.at("new-1.txt")).expect("bytes"), b"ours");
    }

    /// What is decided at the beginning holds at the end.
    #[test]
    fn a_file_written_meanwhile_is_replaced_where_that_was_asked_for() {
        let fixture = Fixture::new();
        let output = Outputs::new(true).place(&fixture.at("new")).expect("a place");
        fs::write(fixture.at("new"), "theirs").expect("a file");
        output.write("ours").expect("it is forced");
        assert_eq!(fs::read(fixture.at("new")).expect("bytes"), b"ours");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_written() {
        let fixture = Fixture::new();
        std::os::unix::fs::symlink(fixture.at("there"), fixture.at("link")).expect("a link");
        std::os::unix::fs::symlink(fixture.at("nowhere"), fixture.at("dangling")).expect("a link");
        fs::create_dir(fixture.at("folder")).expect("a folder");
        for (name, kind) in [("link", "a link"), ("dangling", "a link"), ("folder", "a folder")] {
            let expected = format!("{name} is {kind}, not a regular file");
            assert_eq!(fixture.refusal(&mut Outputs::new(true), name), expected);
        }
        let null = Outputs::new(true).place(Path::new("/dev/null")).expect_err("a device").to_string();
        assert_eq!(null, "/dev/null is a device or a pipe, not a regular file");
    }
}
