//! The sessions of the README, typed in as they stand there.

use std::{
    fs::{self, File},
    io::BufReader,
    path::Path,
    process::Command,
};

const COMMAND: &str = "$ cargo run --release -- ";

/// The commands in the README's `console` blocks, each with what it is said to print.
fn sessions<'a>(readme: &'a str) -> Vec<(&'a str, &'a str)> {
    let session = |rest: &'a str| {
        let block = rest.split("```").next().unwrap_or("");
        let (command, printed) = block.split_once('\n').expect("a command and its output");
        (command.strip_prefix(COMMAND).expect("a cargo command"), printed)
    };
    readme.split("```console\n").skip(1).map(session).collect()
}

fn pixels(path: &Path) -> Vec<u8> {
    let file = BufReader::new(File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("pixels");
    pixels
}

#[test]
fn the_readme_shows_what_is_printed_and_drawn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("docs")).expect("a folder");
    let sessions = sessions(&readme);
    assert_eq!(sessions.len(), 2);
    for (command, printed) in sessions {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        let run = luge.args(command.split(' ')).current_dir(folder.path()).output().expect("luge starts");
        assert_eq!(String::from_utf8_lossy(&run.stdout), printed, "{command}");
    }
    let picture = Path::new("docs/bb5.png");
    assert_eq!(pixels(&folder.path().join(picture)), pixels(&root.join(picture)));
}
