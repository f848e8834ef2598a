//! Writes files that are complete or absent: under another name first, then synced and renamed.
//!
//! A process that is killed leaves its temporary file behind. The writer holds a lock on that file until its process ends,
//! so [`sweep`] can find temporary files that no process is writing.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::files::FileError;

/// The beginning and the end of temporary names.
const PREFIX: &str = ".luge-";
const SUFFIX: &str = ".tmp";

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Refuse, even if it appeared while the new one was written.
    Keep,
    /// Replace it once the new one is on the disk.
    Replace,
}

/// Writes a file. An existing file stays until the new one is on the disk.
///
/// # Errors
/// If the file cannot be written, or something that is not a regular file has its name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = write_with(path, Existing::Replace, |out| out.write_all(bytes));
    written.map(drop).map_err(|reason| FileError::new("write", path, reason))
}

/// Like [`write`], for contents that are produced piece by piece. Returns the path of the new file. It differs from `path`
/// if existing files are kept and one has appeared in the meantime.
///
/// # Errors
/// If the file cannot be written, `fill` fails, or something that is not a regular file has its name.
pub fn write_with(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<PathBuf> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "something that is not a regular file is there",
        ));
    }
    let folder = folder(path);
    let file = temporary(folder)?;
    let mut out = io::BufWriter::new(file);
    fill(&mut out)?;
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    let mut name = path.to_owned();
    for number in 1..=MAX_NUMBER {
        let persisted = match existing {
            Existing::Replace => file.persist(&name),
            Existing::Keep => file.persist_noclobber(&name),
        };
        match persisted {
            Ok(_) => {
                // The new name must be on the disk too.
                File::open(folder)?.sync_all()?;
                return Ok(name);
            }
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => file = refused.file,
            Err(refused) => return Err(refused.error),
        }
        name = numbered(path, number);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// How many other names are tried for a result whose own name was taken in the meantime.
const MAX_NUMBER: usize = 100;

/// Returns another name in the same folder: `model-1.safetensors`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

/// Checks that a file can be written there, before any work is done for it.
///
/// # Errors
/// If the file cannot be written.
pub fn reserve(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    fs::metadata(folder(path))?;
    // Return only the kind of the error, because its text names a temporary file.
    temporary(folder(path)).map(drop).map_err(|reason| reason.kind().into())
}

/// Removes the temporary files of killed processes in the folder of a file.
pub fn sweep(path: &Path) {
    let Ok(entries) = fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            remove_if_abandoned(&entry.path());
        }
    }
}

/// Removes a temporary file, unless it cannot be opened, locked or removed: then it belongs to another user or is in use.
fn remove_if_abandoned(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    if file.try_lock().is_ok() {
        let _ = fs::remove_file(path);
    }
}

/// Creates a locked temporary file, whose permissions honour the umask.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        // Without file locks, `sweep` removes nothing either.
        let _ = file.as_file().lock();
        // Another process may have swept the file before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_written_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        write(&path, b"one").expect("a file");
        write(&path, b"three").expect("a file");
        assert_eq!(fs::read(&path).expect("bytes"), b"three");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(reserve(folder.path()).expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
        assert!(reserve(&folder.path().join("no/such/folder")).is_err());
        assert!(reserve(&folder.path().join("file")).is_ok());
    }

    #[test]
    fn a_file_that_came_to_be_in_between_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for name in ["file-1", "file-2"] {
            let written = write_with(&path, Existing::Keep, |out| {
                fs::write(&path, "theirs")?;
                out.write_all(b"ours")
            });
            assert_eq!(written.expect("another file"), folder.path().join(name));
            assert_eq!(fs::read(&path).expect("bytes"), b"theirs");
            assert_eq!(fs::read(folder.path().join(name)).expect("bytes"), b"ours");
        }
        assert_eq!(names(folder.path()), ["file", "file-1", "file-2"]);
    }

    #[test]
    fn only_abandoned_files_are_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in [".luge-dead.tmp", ".tmpother", ".luge-mine", "notes.tmp"] {
            fs::write(at(name), "").expect("a file");
        }
        let busy = temporary(folder.path()).expect("a file");
        sweep(&at("result"));
        let busy_name = busy.path().file_name().expect("a name").to_string_lossy().into_owned();
        let mut expected =
            vec![busy_name, ".luge-mine".to_owned(), ".tmpother".to_owned(), "notes.tmp".to_owned()];
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn the_mask_of_the_user_decides_who_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
        File::create(&plain).expect("a file");
        write(&ours, b"x").expect("a file");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "theirs").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(write(&link, b"ours").is_err());
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read(&file).expect("bytes"), b"theirs");
    }
}
