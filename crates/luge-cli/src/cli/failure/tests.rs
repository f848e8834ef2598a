use std::{collections::BTreeMap, fs, path::Path};

use super::*;

/// The variants of each enum of this name in the sources.
fn declared(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(declared(&path, name));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a text");
            let variants = text.split_once(&format!("pub enum {name} {{\n"));
            let variants = variants.and_then(|(_, rest)| rest.split_once("\n}")).map(|(variants, _)| {
                let lines = variants.lines().filter_map(|line| line.strip_prefix("    "));
                let names = lines.filter(|line| line.starts_with(char::is_uppercase));
                names.map(|line| line.split(|c: char| !c.is_alphanumeric()).take(1).collect()).collect()
            });
            found.extend(variants);
        }
    }
    found
}

#[test]
fn remedies_are_those_of_the_errors_that_exist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let code = fs::read_to_string(crates.join("luge-cli/src/cli/failure.rs")).expect("this file");
    let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in REMEDIES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, remedy) = line.split_once(':').expect("a name and a remedy");
        let (kind, variant) = name.split_once('.').expect("a type and a variant");
        assert!(remedy.trim_start_matches('!').starts_with(' '), "{line}");
        listed.entry(kind).or_default().push(variant);
    }
    for (kind, variants) in listed.into_iter().filter(|(kind, _)| *kind != "TooMuch") {
        let fits =
            |found: &Vec<String>| variants.iter().all(|variant| found.iter().any(|own| own == variant));
        let declared = declared(&crates, kind).into_iter().find(fits);
        let declared = declared.unwrap_or_else(|| panic!("no {kind} has all of {variants:?}"));
        // An `impl` of its own decides about all others.
        if code.contains(&format!("impl From<{kind}> for Failure")) {
            continue;
        }
        let passing = code.split_once(&format!("for {kind}(error, problem) passing "));
        let passing = passing.and_then(|(_, rest)| rest.split_once('{')).map_or("", |(names, _)| names);
        for variant in declared.iter().filter(|variant| !variants.contains(&variant.as_str())) {
            let handled = passing.split(", ").any(|name| name.trim() == variant)
                || code.contains(&format!("{kind}::{variant}"))
                || WITHOUT.contains(&(kind, variant.as_str()));
            assert!(handled, "{kind}.{variant} has no remedy");
        }
    }
}

/// Errors about which a user can do nothing, or whose text says it.
const WITHOUT: [(&str, &str); 5] = [
    ("EngineError", "Arcs"),
    ("TrainError", "Shapes"),
    ("TrainError", "Autodiff"),
    ("TrainError", "Between"),
    ("TrainError", "OutOfCells"),
];
