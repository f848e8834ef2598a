//! The command line as a user drives it: each file of `tests/cmd` is a session.
//!
//! `TRYCMD=overwrite cargo test -p luge-cli --test commands` rewrites the files with the current output.

#[test]
fn every_session_goes_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}
