//! The turingmachinesimulator.com parser on any text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use luge_machine::formats::Format;

fuzz_target!(|text: &str| luge_fuzz::check(Format::TuringMachineSimulator, text));
