//! Model files: what they keep, what an audit finds in them, and that nothing of the data is in the network.

use std::{ops::ControlFlow, path::Path};

use luge::{
    JobError, StreamJob,
    data::Table,
    files::{
        audit::audit,
        export::graph,
        model::{Model, ModelError},
    },
    job::{Data, StandardPrimaries, TrainJob, source::Source},
    run::engine::EngineChoice,
    stream::{Samples, StreamModel},
    training::{Claim, PreparedTraining, TrainingOptions},
};
use luge_landscape::{BuildError, Carrier, ExtendedError, LandscapeKind, Learner, Mlp, VertexSet};
use luge_machine::Machine;
use luge_net::{SparseValues, Values};

fn machine(name: &str) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("learners").join(name);
    let source = Source::open(&path.to_string_lossy()).expect("a learner that ships");
    source.read(None).expect("a valid machine").1.machine
}

fn table(csv: &str) -> Table {
    Table::read(csv.as_bytes(), &["y".to_owned()], None).expect("a table")
}

fn options(kind: LandscapeKind, format: &str) -> TrainingOptions {
    TrainingOptions { landscape: kind, ..TrainingOptions::new(format.parse().expect("a format")) }
}

/// Trains and hands over the model, with everything it was made from.
fn with_model(
    name: &str,
    csv: &str,
    options: &TrainingOptions,
    test: impl FnOnce(&Model, &PreparedTraining),
) {
    let machine = machine(name);
    let learner = Learner::new(&machine, None).expect("a learner");
    let table = table(csv);
    let primary = Mlp::linear(table.feature_names.len(), 1);
    let lesson = PreparedTraining::prepare(
        learner.clone(),
        std::sync::Arc::new(primary.clone()),
        table.clone(),
        options.clone(),
    )
    .expect("a lesson");
    let lessons = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
    let model = Model::new(&lesson, &lessons);
    test(&model, &lesson);
}

const COPY: &str = "x,y\n-2,1.5\n0.25,-3\n1,2\n";
const KEEP: &str = "x,y\n1,-2\n-1,1\n";

/// Moves the first weight of a block a little.
fn nudge(block: &mut SparseValues) {
    let mut values = block.to_values();
    values.data[0] += 1e-9;
    *block = values.into();
}

#[test]
fn a_file_gives_back_the_model_and_its_network() {
    let cases = [
        ("copy_label.tm", COPY, LandscapeKind::Compact, "fix:3.2"),
        ("copy_label.tm", COPY, LandscapeKind::Plain, "float:3.2"),
        ("keep_label.tm", KEEP, LandscapeKind::Internal, "fix:2.0"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    for (name, csv, kind, format) in cases {
        with_model(name, csv, &options(kind, format), |model, lesson| {
            model.save(&path).expect("written");
            let loaded = Model::load(&path).expect("read");
            let again = loaded.is_same(model);
            assert!(again.holds, "{name}: {}", again.figures);
            let text = |extended| serde_json::to_string(&graph(extended)).expect("JSON");
            let rebuilt = loaded.extended().expect("the same network");
            assert!(text(&rebuilt) == text(lesson.extended()), "{name}: another network");
        });
    }
}

/// The certificate's words differ from version to version: a model of an earlier one is refused and says so.
#[test]
fn models_of_an_earlier_version_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    with_model("copy_label.tm", COPY, &options(LandscapeKind::Compact, "fix:3.2"), |model, _| {
        model.save(&path).expect("written");
        let mut bytes = std::fs::read(&path).expect("bytes");
        let now = br#"version\":4"#;
        let place = bytes.windows(now.len()).position(|part| part == now).expect("a version");
        bytes[place + now.len() - 1] = b'3';
        let refused = Model::from_bytes(&bytes, "old.safetensors".to_owned()).expect_err("another version");
        assert_eq!(refused.to_string(), "old.safetensors has version 3, this program reads version 4");
    });
}

/// Changes a claim of a model's certificate, if it is there.
fn forge(model: &mut Model, name: &'static str, change: fn(&mut Claim)) {
    let mut claim = model.card.certificate.get(name).cloned();
    claim.iter_mut().for_each(change);
    model.card.certificate.set(name, claim);
}

/// Whether the audit or training again finds something in a model that was changed after training.
fn found_out(model: &Model, lesson: &PreparedTraining, change: impl FnOnce(&mut Model)) -> bool {
    let mut changed = model.clone();
    change(&mut changed);
    !audit(&changed, lesson).expect("an answer").proves_the_run() || !changed.is_same(model).holds
}

#[test]
fn whatever_is_changed_in_a_model_is_found() {
    with_model("copy_label.tm", COPY, &options(LandscapeKind::Compact, "fix:3.2"), |model, lesson| {
        assert!(audit(model, lesson).expect("an answer").proves_the_run() && model.is_same(model).holds);
        assert!(!found_out(model, lesson, |_| {}));
        assert!(found_out(model, lesson, |m| m.theta[0] = 1.25));
        assert!(found_out(model, lesson, |m| m.theta[1] = -0.0));
        for block in 0..model.weights.len() {
            assert!(found_out(model, lesson, |m| nudge(&mut m.weights[block].1)), "{block}");
        }
        assert!(found_out(model, lesson, |m| m.weights.push(("more".to_owned(), m.weights[0].1.clone()))));
        assert!(found_out(model, lesson, |m| m.card.steps += 1));
        assert!(found_out(model, lesson, |m| m.card.machine_steps += 1));
        assert!(found_out(model, lesson, |m| m.card.train_loss = 0.0));
        assert!(found_out(model, lesson, |m| m.card.stop *= 2.0));
        assert!(found_out(model, lesson, |m| m.card.options.engine = EngineChoice::Dense));
        assert!(found_out(model, lesson, |m| m.card.options.landscape = LandscapeKind::Plain));
        assert!(found_out(model, lesson, |m| m.card.options.carrier = Carrier::Orthogonal));
        assert!(found_out(model, lesson, |m| m.card.options.format = "fix:3.2:sm".parse().expect("a format")));
        assert!(found_out(model, lesson, |m| m.card.options.final_loss = Some(1.0)));
        assert!(found_out(model, lesson, |m| m.card.options.label_offset = Some(1.0)));
        assert!(found_out(model, lesson, |m| m.card.first_cells[0] -= 1));
        assert!(found_out(model, lesson, |m| m.card.data_sha256.replace_range(0..1, "x")));
        assert!(found_out(model, lesson, |m| forge(m, "gradient", |claim| claim.figures.push('!'))));
        assert!(found_out(model, lesson, |m| forge(m, "trace", |claim| claim.holds = false)));
    });
}

/// The bytes with one text in place of another of the same length.
fn altered(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("the text is there");
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn the_checksum_covers_what_packed_weights_stand_for() {
    with_model("copy_label.tm", COPY, &options(LandscapeKind::Compact, "fix:3.2"), |model, _| {
        let mut model = model.clone();
        let signs = (0..5000).map(|k| if k % 3 == 0 { 1.0 } else { -1.0 }).collect();
        model.weights.push(("zz".to_owned(), Values::column(signs).into()));
        let bytes = model.to_bytes("model").expect("bytes");
        let read = |bytes: &[u8]| Model::from_bytes(bytes, "model".to_owned());
        let again = read(&bytes).expect("a model");
        assert_eq!(again.weights.last(), model.weights.last());
        let numbers = r#"\"numbers\":[\"1.0\",\"-1.0\"]"#;
        let damaged = altered(&bytes, numbers, &numbers.replace("-1.0", "-3.0"));
        assert!(matches!(read(&damaged), Err(ModelError::Damaged { .. })));
        let damaged = altered(&bytes, r#"\"shape\":[5000,1]"#, r#"\"shape\":[4999,1]"#);
        assert!(matches!(read(&damaged), Err(ModelError::Damaged { .. })));
    });
}

#[test]
fn other_data_are_found() {
    let options = options(LandscapeKind::Compact, "fix:3.2");
    with_model("copy_label.tm", COPY, &options, |model, _| {
        let (learner, other) = (model.learner().expect("a learner"), table("x,y\n-2,1.5\n0.25,-3\n3,2\n"));
        let primary = model.primary().expect("a network");
        let lesson = PreparedTraining::prepare(learner, primary, other, options.clone()).expect("a lesson");
        let audit = audit(model, &lesson).expect("an answer");
        assert!(!audit["data"].holds && audit["theta"].holds, "{audit:?}");
    });
}

#[test]
fn a_changed_machine_and_impossible_sizes_are_refused() {
    with_model("copy_label.tm", COPY, &options(LandscapeKind::Compact, "fix:3.2"), |model, _| {
        let changed = |change: fn(&mut Model)| {
            let mut model = model.clone();
            change(&mut model);
            model.extended().expect_err("refused")
        };
        assert!(matches!(changed(|m| m.card.machine.push('#')), ModelError::MachineChanged));
        assert!(matches!(changed(|m| m.card.first_cells.clear()), ModelError::Sizes { .. }));
        assert!(matches!(changed(|m| m.card.first_cells[0] = i64::MIN), ModelError::Sizes { .. }));
        assert!(matches!(changed(|m| m.card.n_samples = usize::MAX), ModelError::Sizes { .. }));
        assert!(matches!(changed(|m| m.card.options.cells = Some(usize::MAX)), ModelError::Sizes { .. }));
    });
}

/// The network and its initial weights are the same whatever the labels: only sizes go in. The heads of this learner go
/// elsewhere for other labels.
#[test]
fn nothing_of_the_labels_is_in_the_network() {
    let machine = machine("majority.tm");
    let learner = Learner::new(&machine, None).expect("a learner");
    let primary = Mlp::linear(1, 1);
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let network = |csv: &str| {
            let table = table(csv);
            let lesson = PreparedTraining::prepare(
                learner.clone(),
                std::sync::Arc::new(primary.clone()),
                table.clone(),
                options(kind, "fix:2.0"),
            )
            .expect("a lesson");
            serde_json::to_string(&graph(lesson.extended())).expect("JSON")
        };
        let ones = network("x,y\n0,1\n1,1\n0,1\n1,1\n0,1\n");
        let zeros = network("x,y\n1,1\n1,0\n-2,0\n0,0\n1,0\n");
        assert!(ones == zeros, "{}", kind.word());
    }
}

/// Goes far to the left on theta's tape if the lowest bit of the label is 1, and stays if it is 0. The data are one
/// sample of one feature and one label in two bits, so that bit lies on cell 3.
const LEFT: &str = "machine left\n\
    tape data: 0 1 blank 0 read-only\n\
    tape theta: 0 1 blank 0\n\
    start: c0\n\
    c0:\n * * -> * *, R S, c1\nc1:\n * * -> * *, R S, c2\nc2:\n * * -> * *, R S, look\n\
    look:\n 0 * -> * *, S S, done\n 1 * -> * 1, S L, l1\n\
    l1:\n * * -> * *, S L, l2\nl2:\n * * -> * *, S L, l3\nl3:\n * * -> * 1, S L, l4\n\
    l4:\n * * -> * *, S L, l5\nl5:\n * * -> * *, S L, done\ndone: accept\n";

/// The same on a single tape, for `internal`: from the label back over the data and further.
const LEFT_INSIDE: &str = "machine left\n\
    tape tape: 0 1 blank 0\n\
    start: c0\n\
    c0:\n * -> *, R, c1\nc1:\n * -> *, R, c2\nc2:\n * -> *, R, look\n\
    look:\n 0 -> *, S, done\n 1 -> *, L, l1\n\
    l1:\n * -> *, L, l2\nl2:\n * -> *, L, l3\nl3:\n * -> *, L, l4\n\
    l4:\n * -> *, L, l5\nl5:\n * -> 1, L, done\ndone: accept\n";

/// The initial network is the same byte for byte, wherever the labels send the heads; on `internal`, where tapes cannot grow, with `--cells`.
/// What training leaves has a power of two of cells, and is the same as if they had been there from the start.
#[test]
fn labels_do_not_move_cell_0() {
    for kind in LandscapeKind::ALL {
        let text = if kind == LandscapeKind::Internal { LEFT_INSIDE } else { LEFT };
        let source =
            Source { name: "left".to_owned(), text: text.to_owned(), extension: Some("tm".to_owned()) };
        let lesson = |label: f64, cells: Option<usize>| {
            let options = TrainingOptions { cells, ..options(kind, "fix:2.0") };
            let data = Data::Table(table(&format!("x,y\n1,{label}\n")));
            TrainJob { options, ..TrainJob::new(source.clone(), data) }.prepare().expect("a lesson")
        };
        let text =
            |lesson: &PreparedTraining| serde_json::to_string(&graph(lesson.extended())).expect("JSON");
        // The labels of the format but 0, which needs an offset: the lowest bit is 1 for -1 and 1.
        let [goes, goes_too, stays] = [1.0, -1.0, -2.0].map(|label| text(&lesson(label, Some(32))));
        assert!(goes == stays && goes_too == stays, "{}", kind.word());
        if kind != LandscapeKind::Internal {
            let [goes, goes_too, stays] = [1.0, -1.0, -2.0].map(|label| text(&lesson(label, None)));
            assert!(goes == stays && goes_too == stays, "{}", kind.word());
        }
        let trained = |label: f64, cells: Option<usize>| {
            let lesson = lesson(label, cells);
            let report = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
            assert!(report.certificate.proves_the_run(), "{}: {:?}", kind.word(), report.certificate);
            let n_cells = lesson.window().n_cells;
            (n_cells, Model::new(&lesson, &report))
        };
        let reached = [1.0, -2.0].map(|label| {
            trained(label, Some(32));
            let (n_cells, grown) = trained(label, None);
            let (_, laid_out) = trained(label, Some(n_cells));
            assert!(grown.is_same(&laid_out).holds, "{}: {n_cells}", kind.word());
            n_cells
        });
        assert!(reached.iter().all(|n| n.is_power_of_two()) && reached[0] > reached[1], "{reached:?}");
    }
}

#[test]
fn labels_a_learner_cannot_use_are_rejected() {
    let rejected = |name: &str, csv: &str, format: &str| {
        let machine = machine(name);
        let learner = Learner::new(&machine, None).expect("a learner");
        let table = table(csv);
        let lesson = PreparedTraining::prepare(
            learner.clone(),
            std::sync::Arc::new(Mlp::linear(1, 1)),
            table.clone(),
            options(LandscapeKind::Compact, format),
        )
        .expect("a lesson");
        let state = |error: Option<JobError>| match error {
            Some(JobError::Rejected(state)) => Some(state),
            Some(error) => panic!("{error}"),
            None => None,
        };
        let simulated = state(lesson.simulated().err());
        let lesson = PreparedTraining::prepare(
            learner,
            std::sync::Arc::new(Mlp::linear(1, 1)),
            table,
            options(LandscapeKind::Compact, format),
        );
        let trained = lesson.expect("a lesson").train(|_| ControlFlow::Continue(()));
        assert_eq!(state(trained.err()), simulated, "training finds out what the simulator says");
        simulated
    };
    assert_eq!(rejected("majority.tm", "x,y\n0,1\n1,0\n", "fix:4.4").as_deref(), Some("not_binary"));
    assert_eq!(rejected("mean.tm", "x,y\n0,1.5\n1,-1\n", "fix:4.4").as_deref(), Some("negative"));
    assert_eq!(rejected("mean.tm", "x,y\n0,1\n1,1\n2,1\n", "fix:4.4").as_deref(), Some("no_mean"));
    assert_eq!(rejected("mean.tm", "x,y\n0,1\n1,1\n", "fix:4.4"), None);
}

/// Why a learner on one feature and one label is not prepared.
fn refused(learner: &str, csv: &str, options: TrainingOptions) -> JobError {
    let learner = Learner::new(&machine(learner), None).expect("a learner");
    let prepared =
        PreparedTraining::prepare(learner, std::sync::Arc::new(Mlp::linear(1, 1)), table(csv), options);
    prepared.err().expect("refused")
}

/// The paper's ReLU units for a learner on eight binary tapes are refused, with their number, before any work.
#[test]
fn relu_units_for_every_edge_of_the_mean_are_too_many() {
    let options = TrainingOptions { vertices: VertexSet::All, ..options(LandscapeKind::Relu, "fix:4.2") };
    let error = refused("mean.tm", "x,y\n1,1\n2,2\n", options);
    let too_many =
        matches!(&error, JobError::Extended(ExtendedError::Build(BuildError::TooManyEdges { .. })));
    assert!(too_many, "{error}");
}

#[test]
fn offsets_that_change_labels_are_refused() {
    for offset in [1e17, f64::NAN, f64::INFINITY] {
        let options =
            TrainingOptions { label_offset: Some(offset), ..options(LandscapeKind::Compact, "fix:3.2") };
        let error = refused("copy_label.tm", COPY, options);
        assert!(matches!(error, JobError::LabelOffset(_)), "{offset}");
    }
}

/// Training again from a model's own, perhaps changed, metadata, as `luge certify` does; `None` if it cannot be made.
fn trained_again(claimed: &Model, table: &Table) -> Option<Model> {
    let lesson = claimed.prepare(table.clone(), &StandardPrimaries).ok()?;
    let report = lesson.train(|_| ControlFlow::Continue(())).ok()?;
    Some(Model::new(&lesson, &report))
}

/// A choice, and how it is changed.
type StepDelta = (&'static str, fn(&mut Model));

/// What decides how a model is trained cannot be changed unnoticed either: training again that way gives another model.
#[test]
fn training_again_finds_changed_choices() {
    with_model("copy_label.tm", COPY, &options(LandscapeKind::Compact, "fix:3.2"), |model, lesson| {
        let holds = |change: fn(&mut Model)| {
            let mut claimed = model.clone();
            change(&mut claimed);
            trained_again(&claimed, lesson.table()).is_some_and(|again| claimed.is_same(&again).holds)
        };
        assert!(holds(|_| {}), "an honest model");
        // Without a program nothing can be found out about numbers that are too large: what is said of them is taken over.
        assert!(holds(|m| {
            m.card.certificate.set("no_overflow", Some(Claim::new(false, "1 number was too large")));
        }));
        let changes: [StepDelta; 9] = [
            ("landscape", |m| m.card.options.landscape = LandscapeKind::Plain),
            ("carrier", |m| m.card.options.carrier = Carrier::Orthogonal),
            ("format", |m| m.card.options.format = "fix:4.2".parse().expect("a format")),
            ("final loss", |m| m.card.options.final_loss = Some(1.0)),
            ("label offset", |m| m.card.options.label_offset = Some(1.0)),
            ("cells", |m| m.card.options.cells = m.card.options.cells.map(|cells| cells + 16)),
            ("first cells", |m| m.card.first_cells[0] -= 1),
            ("stop", |m| m.card.stop = 1.0),
            ("engine", |m| m.card.options.engine = EngineChoice::Dense),
        ];
        for (name, change) in changes {
            assert!(!holds(change), "{name} was changed and nobody noticed");
        }
    });
}

/// The sum of the labels, in numbers below 8, on data whose sum is 10 or 3.
const SUM: &str = "learner sum(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] {
    for sample in data {
        theta[0] += y;
    }
}";

/// What is said of numbers that were too large is found out again from the program, which must be the machine's.
#[test]
fn overflow_is_derived_again() {
    for (csv, wraps) in [("x,y\n0,7\n0,3\n", true), ("x,y\n0,1\n0,2\n", false)] {
        let mut job = TrainJob::new(Source::sled("sum", SUM), Data::Table(table(csv)));
        job.options = options(LandscapeKind::Compact, "fix:4.0");
        let lesson = job.prepare().expect("a lesson");
        let report = lesson.train(|_| ControlFlow::Continue(())).expect("gradients");
        let model = Model::new(&lesson, &report).with_program_of(&job);
        assert_eq!(model.card.certificate.get("no_overflow").is_some(), wraps, "{csv}");
        let verdicts = |change: fn(&mut Model)| {
            let mut claimed = model.clone();
            change(&mut claimed);
            let lesson = claimed.prepare(lesson.table().clone(), &StandardPrimaries).expect("a lesson");
            let again = trained_again(&claimed, lesson.table()).expect("a model");
            let audit = audit(&claimed, &lesson).expect("an answer");
            let program = audit.get("program").map(|claim| claim.holds);
            (program, claimed.is_same(&again).holds)
        };
        assert_eq!(verdicts(|_| {}), (Some(true), true), "{csv}: an honest model");
        let forged: fn(&mut Model) = match wraps {
            true => |m| m.card.certificate.set("no_overflow", None),
            false => |m| {
                m.card.certificate.set("no_overflow", Some(Claim::new(false, "1 number was too large")));
            },
        };
        assert_eq!(verdicts(forged), (Some(false), false), "{csv}: a forged line");
        let other_numbers: fn(&mut Model) = |m| {
            forge(m, "no_overflow", |claim| {
                claim.figures = claim.figures.replace("1 number was", "5 numbers were");
            });
        };
        assert_eq!(verdicts(other_numbers), (Some(true), !wraps), "{csv}: forged figures");
        let other_program: fn(&mut Model) = |m| {
            if let Some(program) = &mut m.card.program {
                program.text = program.text.replace("+=", "+|=");
            }
        };
        assert_eq!(verdicts(other_program).0, Some(false), "{csv}: another program");
        assert_eq!(verdicts(|m| m.card.program = None).0, None, "{csv}: no program");
    }
}

/// Models of streams are sealed as others are: a bit that has changed is found out, wherever it lies.
#[test]
fn a_damaged_model_of_a_stream_is_refused() {
    let samples = Samples::Draw("parity:bits=4,hidden=2".parse().expect("a draw"));
    let job = StreamJob::new(Source::open("parity").expect("a learner"), samples);
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| ControlFlow::Continue(())).expect("training");
    let model = StreamModel::new(&job, &lesson, &report);
    let bytes = model.to_bytes("it").expect("a file");
    let read = StreamModel::from_bytes(&bytes, "it".to_owned()).expect("a model");
    assert!((read.theta == model.theta) && (read.card.certificate == model.card.certificate));
    let changed = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        StreamModel::from_bytes(&bytes, "it".to_owned())
    };
    assert!(matches!(changed(bytes.len() - 1), Err(ModelError::Damaged(_))), "a weight");
    let digit = bytes.windows(8).position(|part| part == b"taken\\\":").expect("the samples taken");
    assert!(matches!(changed(digit + 8), Err(ModelError::Damaged(_))), "the card");
}
