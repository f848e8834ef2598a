//! The way between parameters and configurations: there and back, and the parameters that stand for nothing.

#[path = "../../luge-machine/tests/random_machines/mod.rs"]
mod random_machines;

use luge_landscape::{
    BuildError, Configuration, InternalError, Landscape, LandscapeKind, LandscapeOptions, Undecodable,
};
use luge_machine::{
    Alphabet, Machine, Move, NormalForm, Pattern, SymbolId, TapeId, Write,
    lowering::{Moves, lower},
};
use luge_net::Values;
use proptest::{collection::vec, prelude::*};

const N_CELLS: usize = 9;
const SHAPE: random_machines::Shape =
    random_machines::Shape { n_tapes: 1..=3, n_symbols: 2..=2, start_may_halt: false, may_stay: true };

proptest! {
    #[test]
    fn decode_undoes_encode(
        (machine, _) in random_machines::machine_and_input(SHAPE),
        state in any::<prop::sample::Index>(),
        tapes in vec(vec(any::<bool>(), N_CELLS), 3),
        heads in vec(0..N_CELLS, 3),
    ) {
        let normal = lower(&machine, Moves::Keep).expect("binary machines lower").normal;
        let d = normal.n_tapes();
        let state = normal.machine().state_ids().nth(state.index(normal.n_states())).expect("a state");
        let configuration = Configuration { state, tapes: tapes[..d].to_vec(), heads: heads[..d].to_vec() };
        for kind in LandscapeKind::ALL {
            let declared = vec![configuration.clone()];
            let options = LandscapeOptions { declared, ..LandscapeOptions::new(kind, N_CELLS) };
            let landscape = match Landscape::build(&normal, &options) {
                // Most random runs leave the few cells or never end.
                Err(BuildError::Internal(InternalError::NeverHalts(_))) => continue,
                built => built.expect("built"),
            };
            let (parameters, inputs) = landscape.encode(&configuration).expect("a configuration it holds");
            prop_assert!(landscape.network().fits_parameters(&parameters));
            prop_assert!(landscape.network().fits_inputs(&inputs));
            prop_assert_eq!(landscape.decode(&parameters, &inputs), Ok(configuration.clone()), "{:?}", kind);
        }
    }
}

/// Copies the first, read-only tape onto the second until that one shows a 1.
fn copier() -> NormalForm {
    let mut b = Machine::builder();
    b.read_only_tape("source", Alphabet::binary());
    b.tape("target", Alphabet::binary());
    let (copy, halt) = (b.state("copy"), b.halting_state("halt", true));
    let [zero, one] = [SymbolId(0), SymbolId(1)];
    let blank = Pattern::Is(zero);
    b.rule(copy, [Pattern::Is(one), blank], [Write::Keep, Write::Put(one)], [Move::Right; 2], copy);
    b.rule(copy, [Pattern::Is(zero), blank], [Write::Keep, Write::Keep], [Move::Right; 2], copy);
    b.rule(copy, [Pattern::Any, Pattern::Is(one)], [Write::Keep; 2], [Move::Stay; 2], halt);
    NormalForm::new(b.build().expect("valid")).expect("binary")
}

fn start(machine: &NormalForm) -> Configuration {
    let mut tapes = vec![vec![false; N_CELLS]; 2];
    tapes[0][2] = true;
    tapes[1][6] = true;
    Configuration { state: machine.start(), tapes, heads: vec![2, 3] }
}

/// What becomes of a sound point when one entry of a block is changed.
fn spoiled(kind: LandscapeKind, block: &str, entry: usize, value: f64) -> Result<Configuration, Undecodable> {
    let machine = copier();
    let landscape = Landscape::build(&machine, &LandscapeOptions::new(kind, N_CELLS)).expect("built");
    let (mut parameters, mut inputs) = landscape.encode(&start(&machine)).expect("encoded");
    let network = landscape.network();
    match network.parameters().iter().position(|p| p.name == block) {
        Some(index) => parameters[index].data[entry] = value,
        None => inputs[0].data[entry] = value,
    }
    landscape.decode(&parameters, &inputs)
}

#[test]
fn parameters_that_stand_for_nothing() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let check = |block: &str, entry: usize, value: f64, expected: &str| {
            let found = spoiled(kind, block, entry, value).expect_err(expected).to_string();
            assert_eq!(found, expected, "{kind:?}");
        };
        // Vertex 1 reads a 1 from tape 0 and a 0 from tape 1; the writable tape 1 is row 0, the read-only tape 0 row 1.
        check("vertex", 1, 0.25, "no single vertex has all the weight: entry 0 is 0");
        check("vertex", 3, 0.75, "no single vertex has all the weight: entry 3 is 0.75");
        check("vertex", 3, -0.75, "no single vertex has all the weight: entry 3 is -0.75");
        check("vertex", 0, f64::NAN, "no single vertex has all the weight: entry 0 is NaN");
        check("head", 3, 0.5, "head 1 is not on one cell: its weight on cell 0 is 0");
        check("head", N_CELLS + 4, 1.0, "head 0 is not on one cell: its weight on cell 4 is 1");
        check("tape", 5, 0.25, "cell 5 of tape 1 is 0.25, neither -1 nor 1");
        check("tape", 5, f64::INFINITY, "cell 5 of tape 1 is inf, neither -1 nor 1");
        check("tape", 3, 1.0, "the vertex holds another symbol of tape 1 than lies under its head");
        check("read_only", 4, -0.5, "cell 4 of tape 0 is -0.5, neither -1 nor 1");
        check("read_only", 2, -1.0, "the vertex holds another symbol of tape 0 than lies under its head");
    }
}

#[test]
fn small_errors_are_read_over() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        for (block, entry, value) in
            [("vertex", 1, 0.75), ("vertex", 0, 0.25), ("head", 3, 1.5), ("head", 0, -0.25), ("tape", 6, 2.0)]
        {
            assert_eq!(spoiled(kind, block, entry, value), Ok(start(&copier())), "{kind:?} {block} {entry}");
        }
    }
}

#[test]
fn read_only_tapes_are_fed_and_not_trained() {
    let machine = copier();
    assert!(machine.read_only(TapeId(0)) && !machine.read_only(TapeId(1)));
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        let landscape = Landscape::build(&machine, &LandscapeOptions::new(kind, N_CELLS)).expect("built");
        let (parameters, inputs) = landscape.encode(&start(&machine)).expect("encoded");
        let row =
            |at: usize| -> Vec<f64> { (0..N_CELLS).map(|i| if i == at { 1.0 } else { -1.0 }).collect() };
        assert_eq!(parameters[1].data, row(6), "{kind:?}: the writable tape");
        assert_eq!(inputs, [Values::new(inputs[0].shape, row(2))], "{kind:?}: the read-only tape");
    }
}

#[test]
fn landscape_a_has_only_what_was_declared() {
    let machine = copier();
    let mut options = LandscapeOptions::new(LandscapeKind::Internal, N_CELLS);
    let error = Landscape::build(&machine, &options).expect_err("nothing declared");
    assert_eq!(error, BuildError::Internal(InternalError::NothingDeclared));
    let mut endless = start(&machine);
    endless.tapes[1][6] = false;
    options.declared = vec![endless.clone()];
    let error = Landscape::build(&machine, &options).expect_err("it leaves the tape");
    assert_eq!(error, BuildError::Internal(InternalError::NeverHalts(N_CELLS)));
    // Beside one that halts it is a vertex like any other, on a plain without a slope.
    options.declared = vec![start(&machine), endless.clone()];
    let both = Landscape::build(&machine, &options).expect("built");
    assert!(both.encode(&endless).is_some() && both.n_vertices() > 5);
    options.declared.pop();
    let landscape = Landscape::build(&machine, &options).expect("built");
    // Cells 3 to 6 of the target, then the halt.
    assert_eq!(landscape.n_vertices(), 5);
    assert_eq!(landscape.encode(&endless), None);
    assert_eq!(landscape.configuration(0), Some(&start(&machine)));
    let halted = landscape.configuration(4).expect("five vertices");
    assert_eq!(machine.machine().state(halted.state).name, "halt");
    assert_eq!(halted.tapes[1], [false, false, false, true, false, false, true, false, false]);
}
