//! Files that are complete or absent: written under another name, synced, and renamed.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

/// Writes a file in one piece. The old file, if there is one, stays until the new one is on the disk.
///
/// # Errors
/// If the system refuses.
pub fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = folder(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The new name must be on the disk too.
    File::open(folder)?.sync_all()
}

/// Makes sure that a file can be written there, before anybody works for it.
///
/// # Errors
/// If the system refuses.
pub fn reserve(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Only the kind of the reason: its text would name a temporary file.
    tempfile::NamedTempFile::new_in(folder(path)).map(drop).map_err(|reason| reason.kind().into())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_written_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        write(&path, &[b"one", b"two"]).expect("a file");
        write(&path, &[b"three"]).expect("a file");
        assert_eq!(fs::read(&path).expect("bytes"), b"three");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(reserve(folder.path()).expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
        assert!(reserve(&folder.path().join("no/such/folder")).is_err());
        assert!(reserve(&folder.path().join("file")).is_ok());
    }
}
