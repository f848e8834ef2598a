//! The champions that ship with Luge, run as a user would run them.

use std::process::Command;

use serde_json::Value;

const CHAMPIONS: &str = include_str!("../../luge/data/champions.csv");

fn check(machine: &str, steps: u64, nonzero: u64) {
    let luge = Command::new(env!("CARGO_BIN_EXE_luge")).args(["run", machine, "--json"]).output();
    let luge = luge.expect("luge starts");
    assert!(luge.status.success(), "{machine}: {}", String::from_utf8_lossy(&luge.stderr));
    let summary: Value = serde_json::from_slice(&luge.stdout).expect("JSON");
    assert_eq!(summary["outcome"], "halted", "{machine}");
    assert_eq!(summary["steps"], steps, "{machine}");
    assert_eq!(summary["nonzero"], nonzero, "{machine}");
}

#[test]
fn every_champion_makes_its_steps_and_leaves_its_symbols() {
    let mut lines = CHAMPIONS.lines();
    assert_eq!(lines.next(), Some("machine,steps,nonzero"));
    let mut n_champions = 0;
    for line in lines {
        let [machine, steps, nonzero] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{line}"));
        check(machine, number(steps), number(nonzero));
        n_champions += 1;
    }
    assert_eq!(n_champions, 5);
}
