//! The Sled front end on any text, and the machine of what it accepts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| luge_fuzz::check_program(text));
