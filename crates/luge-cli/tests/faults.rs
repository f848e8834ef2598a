//! Memory that fails: the whole command line over an allocator that refuses some allocations. Each command is run with
//! the n-th allocation refused, alone and with all that follow, for n spread over the run. It ends with words, and
//! every file is whole or absent. `LUGE_TEST=cases=N` sets the number of n.
//!
//! An allocation that cannot fail, as Rust's collections make them, ends the process with the runtime's own words.
//! The same allocator counts allocations: work that must grow linearly is checked for that.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Command, ExitCode, Output, Stdio},
    sync::atomic::Ordering,
    time::Duration,
};

use allocator::{FIRST_REFUSED, LAST_REFUSED, MADE};

/// An allocator that counts, and refuses a range of allocations.
#[allow(unsafe_code)]
mod allocator {
    use std::{
        alloc::{GlobalAlloc, Layout, System},
        sync::atomic::{AtomicU64, Ordering::Relaxed},
    };

    pub(super) static MADE: AtomicU64 = AtomicU64::new(0);
    pub(super) static FIRST_REFUSED: AtomicU64 = AtomicU64::new(u64::MAX);
    pub(super) static LAST_REFUSED: AtomicU64 = AtomicU64::new(0);

    struct Refusing;

    fn refused() -> bool {
        let number = MADE.fetch_add(1, Relaxed);
        number >= FIRST_REFUSED.load(Relaxed) && number <= LAST_REFUSED.load(Relaxed)
    }

    // SAFETY: every request is passed on unchanged to the system's allocator, or answered with null, which stands for
    // failure.
    unsafe impl GlobalAlloc for Refusing {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if refused() {
                return std::ptr::null_mut();
            }
            // SAFETY: the caller keeps the contract of `alloc`.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: the block is the system's, as all that `alloc` and `realloc` give.
            unsafe { System.dealloc(block, layout) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
            if refused() {
                return std::ptr::null_mut();
            }
            // SAFETY: the block is the system's, and the caller keeps the contract of `realloc`.
            unsafe { System.realloc(block, layout, new_size) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Refusing = Refusing;
}

/// The argument of a process: `count`, or the first and the last allocation to refuse.
const FAULT: &str = "LUGE_FAULT";

fn main() -> ExitCode {
    let Ok(fault) = env::var(FAULT) else {
        drive();
        return ExitCode::SUCCESS;
    };
    if let Some((first, last)) = fault.split_once('-') {
        let made = MADE.load(Ordering::Relaxed);
        let number = |text: &str| made.saturating_add(text.parse().expect("a number of an allocation"));
        LAST_REFUSED.store(number(last), Ordering::Relaxed);
        FIRST_REFUSED.store(number(first), Ordering::Relaxed);
        return luge_cli::main();
    }
    let before = MADE.load(Ordering::Relaxed);
    let status = luge_cli::main();
    eprintln!("{}", MADE.load(Ordering::Relaxed) - before);
    status
}

/// The command line with a fault.
fn luge(folder: &Path, line: &str, fault: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(line.split(' ')).current_dir(folder).env(FAULT, fault).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, line: &str, fault: &str) -> Output {
    luge(folder, line, fault).output().expect("a process")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The allocations that a command makes; it must succeed.
fn n_allocations(folder: &Path, line: &str) -> u64 {
    let output = run(folder, line, "count");
    let said = said(&output);
    assert!(output.status.success(), "{line}: {said}");
    said.lines().last().and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{line}: {said}"))
}

/// How many allocations of a run are refused, one in each of as many runs.
fn n_cases() -> u64 {
    luge_suite::number("cases", 10)
}

/// Numbers from 1 to `n`: the first ones close together, where arguments and files are read, the others evenly.
fn spread(n: u64) -> Vec<u64> {
    let cases = n_cases();
    let mut numbers: Vec<u64> =
        (0..cases).map(|i| 1 + i * 37).chain((0..cases).map(|i| n * (2 * i + 1) / (2 * cases))).collect();
    numbers.retain(|&number| number <= n);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The files of a folder but what an ended process has left, each with its content.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let ours = entries.filter(|path| !name(path).starts_with(".luge-"));
    let mut files: Vec<_> = ours.map(|path| (name(&path), fs::read(&path).expect("a file"))).collect();
    files.sort();
    files
}

/// How a process ended: by itself, or by the runtime, which says which allocation failed.
fn judged(line: &str, fault: &str, output: &Output) -> bool {
    let said = said(output);
    let by_runtime = output.status.code().is_none() && said.contains("memory allocation of");
    let by_itself = matches!(output.status.code(), Some(0..=3));
    assert!(by_itself || by_runtime, "{line}, allocations {fault}: {:?}\n{said}", output.status);
    assert!(output.status.success() || !said.trim().is_empty(), "{line}, allocations {fault}: no words");
    by_itself
}

/// Runs a command with one allocation refused after the other; `result` is the file that it writes, if any.
fn attack(folder: &Path, line: &str, result: Option<&str>) {
    let before = files(folder);
    let n = n_allocations(folder, line);
    let after = files(folder);
    let mut ends = [0; 2];
    for first in spread(n) {
        for last in [first, u64::MAX] {
            if let Some(result) = result {
                fs::remove_file(folder.join(result)).ok();
            }
            let fault = format!("{first}-{last}");
            let output = run(folder, line, &fault);
            ends[usize::from(judged(line, &fault, &output))] += 1;
            let left = files(folder);
            assert!(left == before || left == after, "{line}, allocations {fault}: half a file is left");
            assert!(left == after || !output.status.success(), "{line}, allocations {fault}: no file");
        }
    }
    if let Some(result) = result {
        fs::remove_file(folder.join(result)).ok();
    }
    println!("{line}: {n} allocations, {} refusals, {} ended by the runtime", ends[0] + ends[1], ends[0]);
}

/// Asks a lab for its page until a refused allocation ends it, or it has answered often enough.
fn attack_lab(folder: &Path, first: u64) -> u64 {
    let fault = format!("{first}-{first}");
    let mut lab = luge(folder, "lab --no-open", &fault).spawn().expect("a process");
    let mut address = String::new();
    BufReader::new(lab.stdout.take().expect("its output")).read_line(&mut address).expect("a line");
    let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut answers = 0;
    for _ in 0..20 {
        let Ok(mut stream) = TcpStream::connect(&host) else { break };
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        let heard = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        // A page is whole, or its connection broke off.
        if heard.is_ok() && answer.starts_with("HTTP/1.1 200") {
            assert!(answer.trim_end().ends_with("</html>"), "allocation {fault}: half a page");
            answers += 1;
        }
    }
    if lab.try_wait().expect("a process").is_none() {
        lab.kill().expect("it is ours");
        lab.wait().expect("its end");
        return answers;
    }
    judged("lab", &fault, &lab.wait_with_output().expect("its end"));
    answers
}

const LEARNER: &str = "learner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
    for sample in data { theta[0] += y; }
}
";

/// A learner with this number of statements.
fn long_learner(n_statements: usize) -> String {
    let statements: String =
        (0..n_statements).map(|i| format!("    theta[{}] += {};\n", i % 3, i % 7)).collect();
    format!("learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{\n{statements}}}\n")
}

/// Checking and formatting take work in proportion to the statements. What is measured is the number of allocations:
/// every part of that work makes some.
fn check_linear(folder: &Path) {
    for command in ["check", "fmt"] {
        let counts = [1_250, 2_500, 5_000].map(|n_statements| {
            let name = format!("long{n_statements}.sled");
            fs::write(folder.join(&name), long_learner(n_statements)).expect("a file");
            n_allocations(folder, &format!("{command} {name}"))
        });
        println!("{command} on 1,250, 2,500 and 5,000 statements: {counts:?} allocations");
        for pair in counts.windows(2) {
            assert!(pair[1] * 10 <= pair[0] * 23, "{command}: {counts:?} allocations");
        }
    }
}

fn drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("sum.sled"), LEARNER).expect("a file");
    fs::write(folder.join("data.csv"), "x,y\n1,2\n2,1\n0,3\n").expect("a file");
    let train = "train sum.sled --data data.csv --target y --format fix:5.0";
    n_allocations(folder, &format!("{train} --out model --checkpoint run --every 0s"));
    attack(folder, &format!("{train} --out out"), Some("out"));
    attack(folder, &format!("{train} --record out"), Some("out"));
    attack(folder, "resume run --out out", Some("out"));
    attack(folder, "certify model --data data.csv", None);
    attack(folder, "export model --graph out", Some("out"));
    let answers: u64 = (0..n_cases()).map(|i| attack_lab(folder, (500 << (i % 12)) + i)).sum();
    println!("lab: {} refusals, {answers} whole pages", n_cases());
    check_linear(folder);
}
