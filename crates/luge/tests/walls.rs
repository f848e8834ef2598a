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

/// What cargo says of the workspace; an error if it would have to fetch something and cannot.
fn ask_cargo(more: &[&str]) -> Result<Value, String> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    match cargo.status.success() {
        true => Ok(serde_json::from_slice(&cargo.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&cargo.stderr).into_owned()),
    }
}

/// What cargo says of our own crates alone.
fn own_crates() -> Value {
    ask_cargo(&["--no-deps", "--offline"]).unwrap_or_else(|error| panic!("{error}"))
}

/// What cargo says of all crates, those of other systems too if they are here or can be fetched.
fn all_crates() -> Value {
    let everywhere = ask_cargo(&["--locked", "--all-features"]);
    let here = || {
        let version = Command::new("rustc").arg("-vV").output().expect("rustc starts").stdout;
        let version = String::from_utf8_lossy(&version).into_owned();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned();
        ask_cargo(&["--locked", "--all-features", "--offline", "--filter-platform", &host])
    };
    everywhere.or_else(|_| here()).unwrap_or_else(|error| panic!("{error}"))
}

fn workspace() -> Dependencies {
    let metadata = own_crates();
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
    let metadata = own_crates();
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

/// Only the reader that checks the memory budget reads users' files. The other reads are of system files and of messages of known length.
#[test]
fn every_file_is_read_through_the_bounded_reader() {
    const OTHERS: [&str; 3] = ["files/bounded.rs", "run/memory.rs", "lsp/transport.rs"];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["luge", "luge-cli", "luge-lab", "luge-py"] {
        // `tests.rs` is compiled for tests alone, like modules under `#[cfg(test)]`.
        for path in sources(&crates.join(name).join("src")).iter().filter(|path| !path.ends_with("tests.rs"))
        {
            let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let reads = ["fs::read(", "fs::read_to_string(", ".read_to_string(", ".read_to_end("];
            let found = reads.iter().find(|read| code.contains(*read));
            let other = OTHERS.iter().any(|other| path.ends_with(other));
            assert!(other || found.is_none(), "{}: {found:?}", path.display());
        }
    }
}

/// The words in quotes of a list in deny.toml.
fn listed(before: &str) -> BTreeSet<&'static str> {
    let text = include_str!("../../../deny.toml");
    let list = text.split(before).nth(1).and_then(|rest| rest.split("\n]").next()).expect("a list");
    list.split('"').skip(1).step_by(2).collect()
}

/// What deny.toml allows holds for all dependencies, also where cargo-deny is not installed.
#[test]
fn licences_and_sources_are_allowed() {
    let allowed = listed("\nallow = [");
    let fits = |expression: &str| {
        let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
        plain.split(" AND ").all(|part| part.split(" OR ").any(|licence| allowed.contains(licence.trim())))
    };
    assert!(fits("(MIT OR GPL-3.0-only) AND ISC") && !fits("MIT AND GPL-3.0-only") && !fits("none"));
    let metadata = all_crates();
    for package in metadata["packages"].as_array().expect("packages") {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or("none"));
        assert!(fits(licence), "{name} has the licence {licence}");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source.starts_with("registry+")), "{name} is from {source:?}");
    }
}

/// No crate has two versions unless deny.toml says so, none of those is listed in vain, and ours ask for versions.
#[test]
fn versions_are_single_and_asked_for() {
    let metadata = all_crates();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in packages {
        *versions.entry(package["name"].as_str().expect("a name")).or_default() += 1;
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        for dependency in dependencies.iter().filter(|_| package["source"].is_null()) {
            let asked = dependency["req"] != "*" || dependency["path"].is_string();
            assert!(asked, "{} takes any version of {}", package["name"], dependency["name"]);
        }
    }
    let twice: BTreeSet<&str> = versions.iter().filter(|(_, n)| **n > 1).map(|(name, _)| *name).collect();
    let allowed = listed("\nskip = [");
    let more: Vec<_> = twice.difference(&allowed).collect();
    assert!(more.is_empty(), "several versions of {more:?}");
    // A crate that only other systems need may not be here.
    let vain: Vec<_> = allowed.difference(&twice).filter(|name| versions.contains_key(*name)).collect();
    assert!(vain.is_empty(), "a single version of {vain:?}");
}
