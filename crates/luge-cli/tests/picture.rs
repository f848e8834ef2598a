//! Pictures as files: their size.

use std::{fs::File, io::BufReader, process::Command};

fn size_of_file(machine: &str) -> (u32, u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.png");
    let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
    let run = luge.args(["run", machine, "--picture"]).arg(&path).output().expect("luge starts");
    assert!(run.status.success(), "{machine}");
    let file = BufReader::new(File::open(path).expect("the picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    (info.width, info.height)
}

#[test]
fn the_size_does_not_depend_on_the_run() {
    let bb2 = size_of_file("1RB1LB_1LA1RZ");
    let bb4 = size_of_file("1RB1LB_1LA0LC_1RZ1LD_1RD0RA");
    assert_eq!(bb2, (1024, 1024));
    assert_eq!(bb2, bb4);
}
