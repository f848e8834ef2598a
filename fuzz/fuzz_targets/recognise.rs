//! Recognition on any extension and text, and the parser it chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use luge_machine::formats::recognise;

fuzz_target!(|file: (Option<&str>, &str)| {
    let (extension, text) = file;
    if let Ok(format) = recognise(extension, text) {
        luge_fuzz::check(format, text);
    }
});
