//! Dependencies have the licences and the sources that deny.toml allows; `cargo deny check` does the same and more where it is installed.

use std::process::Command;

use serde_json::Value;

/// The licences that deny.toml allows.
fn allowed() -> Vec<String> {
    let text = include_str!("../../../deny.toml");
    let list = text.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    list.split(',')
        .map(|licence| licence.trim().trim_matches('"').to_owned())
        .filter(|l| !l.is_empty())
        .collect()
}

/// Whether some choice among a package's licences is allowed.
fn fits(expression: &str, allowed: &[String]) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    let parts =
        |part: &str| part.split(" OR ").any(|licence| allowed.iter().any(|own| own == licence.trim()));
    plain.split(" AND ").all(parts)
}

#[test]
fn licences_and_sources_are_allowed() {
    let allowed = allowed();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    for package in packages {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(fits(licence, &allowed), "{name} has the licence {licence}");
        let source = package["source"].as_str().unwrap_or("path");
        assert!(source == "path" || source.starts_with("registry+"), "{name} comes from {source}");
    }
    println!("{} packages, {} licences allowed", packages.len(), allowed.len());
    assert!(!fits("GPL-3.0-only", &allowed) && !fits("MIT AND GPL-3.0-only", &allowed));
}
