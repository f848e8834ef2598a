//! Space-time diagrams: their size as files, and their pixels worked out by hand.

use luge::{
    draw::picture::{BLANK, HEAD, INKS, MARGIN, Picture, Rgb, Size},
    job::source::Source,
};
use luge_machine::{Alphabet, Input, Machine, Move, Pattern, Simulator, SymbolId, Write, parse_inputs};

fn draw(machine: &Machine, input: &Input, limit: u64, width: usize, height: usize) -> Picture {
    let mut simulator = Simulator::new(machine, input);
    simulator.run(limit);
    Picture::of_run(Size { width, height }, input, &simulator, |s, step| {
        s.run(step);
    })
}

/// One character per pixel: `.` blank, `1` and `2` the first two inks, `H` head, `m` margin, `?` anything else.
fn sketch(picture: &Picture) -> Vec<String> {
    let letter = |colour: Rgb| match colour {
        BLANK => '.',
        HEAD => 'H',
        MARGIN => 'm',
        colour if colour == INKS[0] => '1',
        colour if colour == INKS[1] => '2',
        _ => '?',
    };
    let size = picture.size();
    let line = |y| (0..size.width).map(|x| letter(picture.pixel(x, y))).collect();
    (0..size.height).map(line).collect()
}

fn busy_beaver(line: &str) -> Machine {
    Source::open(line).expect("a line").read(None).expect("a machine").1.machine
}

/// BB(2) visits cells -2 to 1 and makes 6 steps: 4 columns, 7 rows.
#[test]
fn two_state_champion_pixel_by_pixel() {
    let machine = busy_beaver("1RB1LB_1LA1RZ");
    let picture = draw(&machine, &Input::blank(), 100, 4, 7);
    let by_hand = ["..H.", "..1H", "..H1", ".H11", "H111", "1H11", "11H1"];
    assert_eq!(sketch(&picture), by_hand);
}

/// One step is two cells and two rows. Two by three pixels each leave one column over; four by four leave one
/// column and one line over, and room for the symbol around the head's mark.
#[test]
fn small_runs_are_enlarged_by_whole_factors() {
    let machine = busy_beaver("1RB1LB_1LA1RZ");
    let picture = draw(&machine, &Input::blank(), 1, 5, 6);
    let by_hand = ["HH..m", "HH..m", "HH..m", "11HHm", "11HHm", "11HHm"];
    assert_eq!(sketch(&picture), by_hand);
    let larger = draw(&machine, &Input::blank(), 1, 9, 9);
    let before = ["........m", ".HH.....m", ".HH.....m", "........m"];
    let after = ["1111....m", "1111.HH.m", "1111.HH.m", "1111....m"];
    assert_eq!(sketch(&larger), [&before[..], &after, &["mmmmmmmmm"]].concat());
}

/// A machine that runs right writing 1s: ten steps in three rows show steps 0, 5 and 10; eleven cells in four
/// columns are cells 0-1, 2-4, 5-7 and 8-10.
#[test]
fn long_runs_are_sampled() {
    let picture = draw(&busy_beaver("1RA1RA"), &Input::blank(), 10, 4, 3);
    assert_eq!(sketch(&picture), ["H...", "11H.", "111H"]);
}

/// Eight steps leave 10110110 on nine cells; a column of three cells has two 1s.
#[test]
fn long_tapes_are_averaged() {
    let picture = draw(&busy_beaver("1RB1RB_0RC0RC_1RA1RA"), &Input::blank(), 8, 3, 9);
    assert_eq!(picture.pixel(0, 8), [170, 170, 170]);
    assert_eq!(picture.pixel(1, 8), [170, 170, 170]);
    assert_eq!(picture.pixel(2, 8), HEAD);
}

/// 250,000 cells in a column, every other one a 1: the sample must find about half.
#[test]
fn very_long_tapes_are_sampled_without_bias() {
    let picture = draw(&busy_beaver("1RB1RB_0RA0RA"), &Input::blank(), 1_000_000, 4, 3);
    let [grey, ..] = picture.pixel(0, 2);
    assert!((112..=143).contains(&grey), "{grey}");
}

#[test]
fn tapes_stand_side_by_side_with_a_gap() {
    let mut b = Machine::builder();
    let symbols = || Alphabet::new(["_", "a", "b"], SymbolId(0));
    b.tape("left", symbols());
    b.tape("right", symbols());
    let (start, end) = (b.state("start"), b.halting_state("end", true));
    let b_symbol = Write::Put(SymbolId(2));
    b.rule(start, [Pattern::Any; 2], [Write::Keep, b_symbol], [Move::Right, Move::Left], end);
    let machine = b.build().expect("a machine");
    let input = parse_inputs(&machine, &["aba"]).expect("an input");
    // Width 8: a gap of one, and room for three cells on each side; the right tape has two cells.
    let picture = draw(&machine, &input, 10, 8, 2);
    assert_eq!(sketch(&picture), ["H21m.Hmm", "1H1mH2mm"]);
}
