//! The console sessions of the documentation: every command is run, and its output compared with the page.
//!
//! A line `...` on a page matches any number of lines, and a word `[..]` any word.

use std::{
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
    process::Command,
};

/// How a page shows output.
#[derive(Clone, Copy)]
enum Layout {
    /// Line by line as it is printed.
    Lines,
    /// Word by word: a page may break long lines and narrow columns.
    Words,
}

impl Layout {
    fn pieces(self, text: &str) -> Vec<&str> {
        match self {
            Self::Lines => text.lines().map(str::trim_end).collect(),
            Self::Words => text.split_whitespace().collect(),
        }
    }
}

/// Whether the pieces of a page match printed ones.
fn matches(page: &[&str], printed: &[&str]) -> bool {
    match (page, printed) {
        ([], []) => true,
        (["...", page @ ..], _) => (0..=printed.len()).any(|n| matches(page, &printed[n..])),
        ([first, page @ ..], [piece, printed @ ..]) => {
            (first == piece || *first == "[..]") && matches(page, printed)
        }
        _ => false,
    }
}

/// The fenced blocks of a page: the text after the opening fence, and the content.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').expect("a line behind the fence")).collect()
}

/// The commands of a console block, each with its output.
fn sessions(block: &str) -> Vec<(&str, &str)> {
    let commands = block.strip_prefix("$ ").expect("a command first").split("\n$ ");
    commands.map(|session| session.split_once('\n').unwrap_or((session, ""))).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a command line, its words separated by spaces, prints in a folder.
fn luge(line: &str, folder: &Path) -> String {
    let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
    let run = luge.args(line.split(' ')).current_dir(folder).output().expect("luge starts");
    assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).into_owned()
}

fn pixels(path: &Path) -> Vec<u8> {
    let file = BufReader::new(File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("pixels");
    pixels
}

/// Follows a page in an empty folder: writes the blocks that have a file name, runs the console blocks and compares what is
/// printed, and compares the pictures drawn with those of the same names that are kept.
fn check(page: &str, layout: Layout, n_sessions: usize, pictures: &[&str]) {
    let text = read(&root().join(page));
    let folder = tempfile::tempdir().expect("a folder");
    let mut n_run = 0;
    for (info, content) in blocks(&text) {
        if let Some((_, name)) = info.split_once(' ') {
            fs::write(folder.path().join(name), content).expect("a file");
        }
        if info != "console" {
            continue;
        }
        for (command, shown) in sessions(content) {
            let line = command.strip_prefix("cargo run --release -- ").or(command.strip_prefix("luge "));
            let printed =
                luge(line.unwrap_or_else(|| panic!("{page}: no command of Luge: {command}")), folder.path());
            let alike = matches(&layout.pieces(shown), &layout.pieces(&printed));
            assert!(alike, "{page}: {command}\n--- the page\n{shown}\n--- printed\n{printed}");
            n_run += 1;
        }
    }
    assert_eq!(n_run, n_sessions, "{page}");
    for picture in pictures {
        let kept = root().join(picture);
        let drawn = folder.path().join(kept.file_name().expect("a name"));
        if picture.ends_with(".png") {
            assert_eq!(pixels(&drawn), pixels(&kept), "{picture}");
        } else {
            assert!(read(&drawn) == read(&kept), "{picture} is not what is drawn today");
        }
    }
}

#[test]
fn the_readme_shows_what_is_printed_and_drawn() {
    check("README.md", Layout::Words, 3, &["docs/bb5.png", "docs/pictures/trace.svg"]);
}

#[test]
fn the_tutorial_can_be_followed_and_shows_what_is_printed_and_drawn() {
    check("docs/tutorial.md", Layout::Words, 10, &["docs/pictures/mean.svg", "docs/pictures/train.svg"]);
}

#[test]
fn the_page_on_landscapes_shows_what_is_printed_and_drawn() {
    let pictures = ["compact", "relu", "internal", "plain"].map(|kind| format!("docs/pictures/{kind}.svg"));
    check("docs/landscapes.md", Layout::Lines, 6, &pictures.each_ref().map(String::as_str));
}

#[test]
fn the_page_on_xor_shows_what_is_printed_and_drawn() {
    check("docs/xor.md", Layout::Lines, 3, &["docs/pictures/xor.svg"]);
}

#[test]
fn the_page_on_ordinary_networks_shows_what_is_printed() {
    check("docs/ordinary.md", Layout::Words, 10, &[]);
}

/// The program on the first screen finds the weights that the session below it shows.
#[test]
fn the_perceptron_of_the_readme_learns_what_the_readme_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = read(&root().join("README.md"));
    let (_, program) = blocks(&page).into_iter().find(|(info, _)| *info == "sled").expect("a program");
    fs::write(folder.path().join("short.sled"), program).expect("a file");
    let data = root().join("crates/luge/learners/iris_setosa.csv");
    fs::copy(data, folder.path().join("iris.csv")).expect("a file");
    let weights = |learner| {
        let printed = luge(
            &format!("run {learner} --data iris.csv --target setosa --format fix:8.4 --json"),
            folder.path(),
        );
        serde_json::from_str::<serde_json::Value>(&printed).expect("JSON")["theta"].clone()
    };
    assert_eq!(weights("short.sled"), serde_json::json!([1.0, 1.375, 5.125, -6.875, -3.125]));
    assert_eq!(weights("short.sled"), weights("perceptron"));
}
