//! The learners that ship: the machine leaves what the interpreter leaves, and both what a plain implementation says.

mod plain;
mod ran;
mod real_data;
mod scikit;
mod small_data;

use luge::job::catalogue;
use ran::ran;

#[test]
fn every_learner_is_as_large_as_the_page_says() {
    let page = include_str!("../../../../docs/sled.md");
    let mut missing = Vec::new();
    for shipped in catalogue::SHIPPED.iter().filter(|shipped| shipped.extension == "sled") {
        let ran = ran(shipped.name);
        assert!(ran.vertices <= 20_000, "{}: {} vertices", shipped.name, ran.vertices);
        if !page.contains(&ran.row) {
            missing.push(ran.row);
        }
    }
    assert!(missing.is_empty(), "docs/sled.md should have\n{}", missing.join("\n"));
}
