//! The sessions of the README and of the pages on landscapes and XOR, typed in as they stand there.

use std::{
    fs::{self, File},
    io::BufReader,
    path::Path,
    process::Command,
};

const COMMAND: &str = "$ cargo run --release -- ";

/// The commands in a page's `console` blocks, each with what it is said to print.
fn sessions<'a>(page: &'a str) -> Vec<(&'a str, &'a str)> {
    let session = |rest: &'a str| {
        let block = rest.split("```").next().unwrap_or("");
        let (command, printed) = block.split_once('\n').expect("a command and its output");
        (command.strip_prefix(COMMAND).expect("a cargo command"), printed)
    };
    page.split("```console\n").skip(1).map(session).collect()
}

fn pixels(path: &Path) -> Vec<u8> {
    let file = BufReader::new(File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("pixels");
    pixels
}

/// What is printed, without the one number that differs from run to run.
fn without_speed(printed: &str) -> String {
    let line = |line: &str| if line.ends_with(" steps/s") { "(speed)".to_owned() } else { line.to_owned() };
    printed.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the sessions of a page in an empty folder and compares what they print with the page, and what they draw there with the
/// pictures of the same names that are kept.
fn check(page: &str, n_sessions: usize, pictures: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = sessions(&text);
    assert_eq!(sessions.len(), n_sessions, "{page}");
    for (command, printed) in sessions {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        let run = luge.args(command.split(' ')).current_dir(folder.path()).output().expect("luge starts");
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
        let stdout = String::from_utf8_lossy(&run.stdout);
        assert_eq!(without_speed(&stdout), without_speed(printed), "{command}");
    }
    for picture in pictures {
        let kept = root.join(picture);
        let drawn = folder.path().join(kept.file_name().expect("a name"));
        if picture.ends_with(".png") {
            assert_eq!(pixels(&drawn), pixels(&kept), "{picture}");
        } else {
            let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| panic!("{picture}: {e}"));
            assert!(read(&drawn) == read(&kept), "{picture} is not what is drawn today");
        }
    }
}

#[test]
fn the_readme_shows_what_is_printed_and_drawn() {
    check("README.md", 4, &["docs/bb5.png", "docs/pictures/trace.svg", "docs/pictures/train.svg"]);
}

#[test]
fn the_page_on_landscapes_shows_what_is_printed_and_drawn() {
    let pictures = ["compact", "relu", "internal", "plain"].map(|kind| format!("docs/pictures/{kind}.svg"));
    check("docs/landscapes.md", 6, &pictures.each_ref().map(String::as_str));
}

#[test]
fn the_page_on_xor_shows_what_is_printed_and_drawn() {
    check("docs/xor.md", 3, &["docs/pictures/xor.svg"]);
}
