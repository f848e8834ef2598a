//! Files as sites and people write them, one test for each way in which they were once refused or misread. The machines are
//! those of tests/suite, which tests every reader; here they pass through the whole command.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Puts a file of the suite on the desk.
    fn with(self, place: &str) -> Self {
        let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suite/formats").join(place);
        let name = suite.file_name().expect("a name");
        fs::copy(&suite, self.0.path().join(name)).unwrap_or_else(|error| panic!("{place}: {error}"));
        self
    }

    fn write(self, name: &str, text: &str) -> Self {
        fs::write(self.0.path().join(name), text).expect("a file");
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("a text")
    }

    fn luge(&self, line: &str) -> Output {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.args(line.split(' ')).current_dir(self.0.path()).output().expect("luge starts")
    }

    /// Standard output and standard error of a command that succeeds.
    fn done(&self, line: &str) -> (String, String) {
        let output = self.luge(line);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    }

    /// The message of a command that fails: one finding or one reason.
    fn failed(&self, line: &str) -> String {
        let output = self.luge(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        said
    }
}

/// Asserts how a run ends, and after which number of steps.
fn check_run(desk: &Desk, line: &str, outcome: &str, steps: u64) {
    let (printed, _) = desk.done(line);
    let expected = format!("outcome    {outcome}\nsteps      {steps}\n");
    assert!(printed.starts_with(&expected), "{line}: {printed}");
}

/// The findings in a message; each is shown at its place in a file.
fn n_findings(said: &str) -> usize {
    said.matches("╭─[").count()
}

#[test]
fn a_document_that_turingmachine_io_saves_is_read_and_written() {
    let desk = Desk::new().with("turingmachine-io/saved.yaml").with("turingmachine-io/increment.yaml");
    check_run(&desk, "run saved.yaml", "halted in state yes, accepting", 5);
    let (alone, _) = desk.done("run increment.yaml");
    desk.done("convert increment.yaml again.yaml --saved");
    assert!(desk.read("again.yaml").contains("source code: |"), "{}", desk.read("again.yaml"));
    assert_eq!(desk.done("run again.yaml").0, alone);
}

/// As JFLAP does: `!□` until the blank on `xyzab` takes six steps, though no transition names a letter.
#[test]
fn a_negation_of_jflap_matches_what_lies_on_the_tape() {
    let desk = Desk::new().with("jflap/until-blank.jff");
    check_run(&desk, "run until-blank.jff --input xyzab", "halted in state q1, accepting", 6);
}

#[test]
fn blocks_of_jflap_that_are_single_states_are_states() {
    let desk = Desk::new().with("jflap/turingbb.jff").with("jflap/bad/turingbb-inside.jff");
    check_run(&desk, "run turingbb.jff", "halted in state q1, accepting", 1);
    let said = desk.failed("run turingbb-inside.jff");
    assert!(said.contains("has a machine inside") && n_findings(&said) == 1, "{said}");
}

#[test]
fn a_repeated_rule_is_a_warning_and_hash_comments_are_one_finding() {
    let desk = Desk::new()
        .with("turingmachinesimulator/repeated.tms")
        .with("turingmachinesimulator/bad/hash-comments.tms");
    check_run(&desk, "run repeated.tms", "halted in state qAccept, accepting", 1);
    assert!(desk.done("run repeated.tms").1.contains("this rule is the same as that on line 6"));
    let said = desk.failed("run hash-comments.tms");
    assert!(said.contains("comments begin with `//`") && n_findings(&said) == 1, "{said}");
}

#[test]
fn morphett_s_input_start_and_death_are_the_site_s() {
    let desk = Desk::new().with("morphett/initial-tape.morphett").with("morphett/recogniser.morphett");
    check_run(&desk, "run initial-tape.morphett", "halted in state halt-accept, accepting", 3);
    check_run(&desk, "run recogniser.morphett --start q0", "halted in state halt-accept, accepting", 5);
    let dies = "halted in state halt-no-rule, not accepting";
    check_run(&desk, "run recogniser.morphett", dies, 1);
    assert!(desk.done("run recogniser.morphett").1.contains("--start"));
}

#[test]
fn a_list_of_bbchallenge_is_run_by_line_or_each() {
    let list = "# two states\n1RB1LB_1LA1RZ Halt 6 4\n1RB---_0LA---\n";
    let desk = Desk::new().write("list.bb", list).write("one.bb", "1RB1LB_1LA1RZ Halt 6 4\n");
    check_run(&desk, "run one.bb", "halted in state Z, accepting", 6);
    assert_eq!(n_findings(&desk.done("run one.bb").1), 1);
    assert_eq!(n_findings(&desk.failed("run list.bb")), 1);
    check_run(&desk, "run list.bb --line 3", "halted in state A, not accepting", 2);
    let (each, _) = desk.done("run list.bb --each");
    let lines: Vec<&str> = each.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "2  1RB1LB_1LA1RZ  halted, 6 steps, 4 non-blank  (Halt 6 4)",
            "3  1RB---_0LA---  halted, 2 steps, 1 non-blank"
        ]
    );
}

#[test]
fn a_recogniser_crosses_with_losses_and_what_is_lost_is_said() {
    let desk = Desk::new().with("morphett/recogniser.morphett");
    let convert = "convert recogniser.morphett out.tms --start q0";
    assert!(desk.failed(convert).contains("--lossy writes what can be said"));
    let (_, said) = desk.done(&format!("{convert} --lossy"));
    assert!(said.contains("halts without accepting; in the file the machine stops there"), "{said}");
    check_run(&desk, "run out.tms --input 11", "halted in state halt-accept, accepting", 3);
    check_run(&desk, "run out.tms --input 1", "stopped in state halt-reject: no rule for _", 2);
}

#[test]
fn a_line_comes_back_from_another_format() {
    let line = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA\n";
    let desk = Desk::new().write("line.bb", line);
    for there in ["there.tms", "there.jff"] {
        desk.done(&format!("convert line.bb {there} --force"));
        desk.done(&format!("convert {there} back.bb --force"));
        assert_eq!(desk.read("back.bb"), line, "{there}");
    }
}

#[test]
fn refusals_say_one_thing_and_the_way_out() {
    let desk = Desk::new()
        .with("turingmachine-io/start-halts.yaml")
        .with("jflap/bad/nondeterministic.jff")
        .with("jflap/bad/other-type.jff")
        .with("jflap/bad/pushdown.jff");
    let said = desk.failed("trace start-halts.yaml");
    assert!(said.contains("halts at once") && said.contains("help: there is no step to make"), "{said}");
    for (file, says) in [
        ("nondeterministic.jff", "not deterministic"),
        ("other-type.jff", "type `fa`"),
        ("pushdown.jff", "type `pda`"),
    ] {
        let said = desk.failed(&format!("run {file}"));
        assert!(said.contains(says) && n_findings(&said) == 1, "{file}: {said}");
    }
}
