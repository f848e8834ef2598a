//! The example and the claims of `docs/native-format.md`.

use luge_machine::{
    Simulator,
    formats::{Format, recognise},
};

#[test]
fn example_of_the_doc_runs_as_it_says() {
    let doc = include_str!("../../../docs/native-format.md");
    let example = doc.split("```tm\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a tm block");
    assert_eq!(recognise(None, example), Ok(Format::Native));
    let loaded = Format::Native.read(example).unwrap();
    assert!(loaded.warnings.is_empty());
    let mut simulator =
        Simulator::new(&loaded.machine, loaded.input.as_ref().expect("the example has an input"));
    let outcome = simulator.run(100);
    let state = &loaded.machine.state(simulator.state()).name;
    assert!(outcome.accepting());
    let claim = format!("`{state}` after {} steps", simulator.steps());
    // Wherever the doc breaks its lines.
    assert!(doc.split_whitespace().collect::<Vec<_>>().join(" ").contains(&claim), "{claim}");
}
