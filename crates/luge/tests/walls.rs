//! The walls between the crates: what each may know, read from cargo itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The dependencies of a crate on crates of this workspace, by kind: "normal", "dev" or "build".
type Dependencies = BTreeMap<String, BTreeSet<(String, String)>>;

/// What cargo says of the workspace; with `--no-deps` of its own crates alone.
fn metadata(more: &[&str]) -> Value {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    serde_json::from_slice(&cargo.stdout).expect("JSON")
}

fn workspace() -> Dependencies {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let names: BTreeSet<String> = packages.iter().filter_map(|p| text(&p["name"])).collect();
    let ours = |package: &Value| {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        let named = all.filter_map(|d| {
            Some((text(&d["name"])?, text(&d["kind"]).unwrap_or_else(|| "normal".to_owned())))
        });
        named.filter(|(name, _)| names.contains(name)).collect()
    };
    packages.iter().map(|p| (text(&p["name"]).expect("a name"), ours(p))).collect()
}

/// Everything of ours that can be named while `name`, its tests or its build script are compiled.
fn reachable(workspace: &Dependencies, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<String> = workspace[name].iter().map(|(name, _)| name.clone()).collect();
    while let Some(name) = pending.pop() {
        let further = workspace[&name].iter().filter(|(_, kind)| kind != "dev");
        pending.extend(further.map(|(name, _)| name.clone()));
        found.insert(name);
    }
    found
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Training sees networks and nothing else: no engine can ask the simulator.
#[test]
fn training_cannot_name_a_machine() {
    assert_eq!(reachable(&workspace(), "luge-train"), set(&["luge-net"]));
}

#[test]
fn a_network_knows_nothing_of_ours() {
    assert_eq!(reachable(&workspace(), "luge-net"), set(&[]));
}

#[test]
fn machines_stand_alone() {
    let workspace = workspace();
    let suite = ("luge-suite".to_owned(), "dev".to_owned());
    assert!(workspace["luge-machine"].iter().all(|dependency| *dependency == suite));
    assert_eq!(reachable(&workspace, "luge-suite"), set(&[]));
}

/// The simulator of circuits judges their training, and can use nothing of it.
#[test]
fn circuits_know_machines_alone() {
    let reachable = reachable(&workspace(), "luge-circuit");
    assert!(reachable.is_subset(&set(&["luge-machine", "luge-suite"])), "{reachable:?}");
}

/// A program becomes a machine or a circuit without a look at networks or data.
#[test]
fn programs_stand_on_machines_and_circuits() {
    let reachable = reachable(&workspace(), "luge-sled");
    assert!(reachable.is_subset(&set(&["luge-circuit", "luge-machine", "luge-suite"])), "{reachable:?}");
}

/// A landscape is built from machine or circuit and network; training is for its tests only.
#[test]
fn landscapes_stand_on_machine_and_network() {
    let workspace = workspace();
    let built_on = |name: &str| -> BTreeSet<String> {
        let all = workspace[name].iter().filter(|(_, kind)| kind != "dev");
        all.map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(built_on("luge-landscape"), set(&["luge-circuit", "luge-machine", "luge-net"]));
}

/// The library has no terminal and no server; the lab has no terminal.
#[test]
fn front_ends_stand_on_the_library() {
    let workspace = workspace();
    let needs = |name: &str| reachable(&workspace, name);
    for front_end in ["luge-lab", "luge-cli"] {
        assert!(!needs("luge").contains(front_end), "the library needs {front_end}");
    }
    assert!(needs("luge-lab").contains("luge") && !needs("luge-lab").contains("luge-cli"));
    assert!(needs("luge-cli").contains("luge-lab"));
    let library = direct("luge");
    for foreign in ["clap", "miette", "indicatif", "ctrlc", "axum", "tokio"] {
        assert!(!library.contains(foreign), "the library needs {foreign}");
    }
    for foreign in ["clap", "miette", "indicatif", "ctrlc"] {
        assert!(!direct("luge-lab").contains(foreign), "the lab needs {foreign}");
    }
}

/// All dependencies of a crate, ours or not, that are no dev-dependencies.
fn direct(name: &str) -> BTreeSet<String> {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|p| p["name"] == name).expect("a crate of this workspace");
    let all = package["dependencies"].as_array().expect("dependencies").iter();
    let normal = all.filter(|d| d["kind"].is_null());
    normal.filter_map(|d| d["name"].as_str().map(str::to_owned)).collect()
}

/// No file from elsewhere is compiled into training: what it may know is what its crate depends on.
#[test]
fn training_compiles_its_own_files_only() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../luge-train/src");
    let files = sources(&folder);
    assert!(files.len() >= 5);
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for (number, line) in text.lines().enumerate() {
            for word in ["#[path", "include!"] {
                assert!(!line.contains(word), "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// What deny.toml allows holds for all dependencies, also where cargo-deny is not installed.
#[test]
fn licences_and_sources_are_allowed() {
    let text = include_str!("../../../deny.toml");
    let list = text.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let allowed: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let fits = |expression: &str| {
        let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
        plain.split(" AND ").all(|part| part.split(" OR ").any(|licence| allowed.contains(licence.trim())))
    };
    assert!(fits("(MIT OR GPL-3.0-only) AND ISC") && !fits("MIT AND GPL-3.0-only") && !fits("none"));
    let metadata = metadata(&["--locked"]);
    for package in metadata["packages"].as_array().expect("packages") {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or("none"));
        assert!(fits(licence), "{name} has the licence {licence}");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source.starts_with("registry+")), "{name} is from {source:?}");
    }
}
