//! Faults judged by nothing but the certificate that the shipped commands print: the whole job is prepared and run as `luge train` and
//! `luge trace` do it, with the fault planted from the beginning.

use std::{collections::BTreeSet, ops::ControlFlow};

use luge::{
    Certificate, Source, StreamJob, TraceJob, TraceOptions, TrainJob,
    certificate::answer::{Answer, verdict_on},
    run::{
        engine::EngineChoice,
        follow::{ObservationRate, RunProgress},
    },
};
use luge_net::{Arcs, Node, NodeId, Op, VertexTable, faults};

use crate::graphs::{unstopped, weight};

/// Whether the command certifies the run; what refuses it otherwise, as it prints it.
pub(crate) type Verdict = Result<(), String>;

/// What the answer of `luge train` or `luge trace` says.
fn verdict(answer: &Answer) -> Verdict {
    let Answer { certified, verdict, claims, .. } = answer;
    assert_eq!(verdict.starts_with("yes"), *certified, "{verdict}");
    let failed = claims.iter().find(|claim| !claim.holds).map_or("", |claim| &claim.figures);
    if *certified { Ok(()) } else { Err(format!("{verdict}; {failed}")) }
}

/// What the certificate of `luge stream` says.
fn verdict_on_stream(certificate: &Certificate) -> Verdict {
    let certified = certificate.proves_the_run();
    let text = verdict_on(&certificate.claims(), certified);
    assert_eq!(text.starts_with("yes"), certified, "{text}");
    if certified { Ok(()) } else { Err(text) }
}

/// Prepares and trains a job as `luge train` does.
pub(crate) fn certify(job: &TrainJob) -> Verdict {
    let lesson = job.prepare().map_err(|error| error.to_string())?;
    let report = lesson.follow(None, ObservationRate::Moments, |_| ControlFlow::Continue(()));
    verdict(&Answer::of_training(&lesson, &report.map_err(|error| error.to_string())?))
}

/// Trains a learner on its stream as `luge stream` does.
fn stream(name: &str) -> Verdict {
    let job = StreamJob::of(Source::open(name).expect("it ships")).expect("its samples");
    let lesson = job.prepare().map_err(|error| error.to_string())?;
    let report = lesson.train(|_| ControlFlow::Continue(())).map_err(|error| error.to_string())?;
    verdict_on_stream(&report.certificate)
}

/// Trains a learner that ships on its own data, as the command does.
fn train(name: &str, mut vertices: Option<&mut BTreeSet<usize>>) -> Verdict {
    let job = TrainJob::of(Source::open(name).expect("a learner")).map_err(|error| error.to_string())?;
    let lesson = job.prepare().map_err(|error| error.to_string())?;
    let rate = if vertices.is_some() { ObservationRate::Steps } else { ObservationRate::Moments };
    let watch = |progress: RunProgress<'_>| {
        if let Some(vertices) = &mut vertices {
            vertices.extend(progress.engine.vertex());
            if progress.step > 20_000 {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    };
    let report = lesson.follow(None, rate, watch).map_err(|error| error.to_string())?;
    verdict(&Answer::of_training(&lesson, &report))
}

/// Traces a machine, as the command does.
fn trace(line: &str, mut vertices: Option<&mut BTreeSet<usize>>) -> Verdict {
    let source = Source::open(line).expect("a machine");
    let job = TraceJob { options: TraceOptions::default(), ..TraceJob::new(source) };
    let plan = job.prepare().map_err(|error| error.to_string())?;
    let rate = if vertices.is_some() { ObservationRate::Steps } else { ObservationRate::Moments };
    let watch = |progress: RunProgress<'_>| {
        if let Some(vertices) = &mut vertices {
            vertices.extend(progress.engine.vertex());
        }
        ControlFlow::Continue(())
    };
    let trace = plan.follow(None, rate, watch).map_err(|error| error.to_string())?;
    verdict(&Answer::of_trace(&plan, &trace))
}

const BB4: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";

/// A listed arc of one vertex spoilt, while the table stays right: what is written negated, moves mirrored, a successor block shifted.
fn spoil(kind: usize, spoilt: usize) -> faults::Planted {
    faults::plant_in_arcs(move |arcs, table: &VertexTable, vertex, (row, col, weight)| {
        if vertex != spoilt {
            return None;
        }
        let shifted = |block: usize| (block + 1) % table.n_blocks();
        match (kind, arcs) {
            (0, Arcs::Next { .. }) => Some((row, col, -weight)),
            (1, Arcs::Moving { by, .. }) if by != 0 => Some((row, col, -weight)),
            (2, Arcs::Successors { .. }) if col < table.n_blocks() => Some((row, shifted(col), weight)),
            (2, Arcs::NextBlock) => Some((shifted(row), col, weight)),
            _ => None,
        }
    })
}

/// Spoils every kind of arc at each of these vertices; those at which a fault changes an arc and is certified all the same.
fn missed(vertices: &BTreeSet<usize>, run: impl Fn() -> Verdict) -> (usize, Vec<(usize, usize)>) {
    let (mut n_planted, mut missed) = (0, Vec::new());
    for (kind, &vertex) in (0..3).flat_map(|kind| vertices.iter().map(move |vertex| (kind, vertex))) {
        let planted = spoil(kind, vertex);
        let verdict = run();
        if planted.altered_a_graph() {
            n_planted += 1;
            if verdict.is_ok() {
                missed.push((kind, vertex));
            }
        }
    }
    (n_planted, missed)
}

#[test]
fn every_spoilt_vertex_is_refused() {
    let mut vertices = BTreeSet::new();
    trace(BB4, Some(&mut vertices)).expect("nothing is planted");
    let (n_planted, certified) = missed(&vertices, || trace(BB4, None));
    assert!(n_planted >= 2 * vertices.len() && certified.is_empty(), "{n_planted}, {certified:?}");
    assert_eq!(train("mean", None), Ok(()));
    let mut vertices = BTreeSet::new();
    let _ = train("mean", Some(&mut vertices));
    let (n_planted, certified) = missed(&vertices, || train("mean", None));
    assert!(n_planted >= 2 * vertices.len() && certified.is_empty(), "{n_planted}, {certified:?}");
}

#[test]
fn a_hundred_spoilt_vertices_of_the_perceptron_are_refused() {
    let mut vertices = BTreeSet::new();
    let _ = train("perceptron", Some(&mut vertices));
    let some: BTreeSet<usize> =
        vertices.iter().copied().step_by((vertices.len() / 100).max(1)).take(100).collect();
    assert_eq!(some.len(), 100.min(vertices.len()));
    let (n_planted, certified) = missed(&some, || train("perceptron", None));
    assert!(n_planted >= some.len() && certified.is_empty(), "{n_planted}, {certified:?}");
}

/// The node of the input y.
fn labels_fed(nodes: &[Node]) -> Option<NodeId> {
    let place = nodes.iter().position(|node| node.name == "y" && matches!(node.op, Op::Input(_)))?;
    nodes.iter().flat_map(|node| node.op.operands()).find(|id| id.index() == place)
}

/// Puts y in the place of the fixed labels, in the carrier or wherever else they are used.
fn y_for_z(nodes: &mut [Node], in_carrier: bool) -> bool {
    let Some(y) = labels_fed(nodes) else { return false };
    let mut found = false;
    for i in (0..nodes.len()).filter(|&i| (nodes[i].name == "carrier") == in_carrier).collect::<Vec<_>>() {
        let operands = nodes[i].op.operands();
        let fixed = |place: &usize| nodes[operands[*place].index()].name == "[labels]";
        for place in (0..operands.len()).filter(fixed).collect::<Vec<_>>() {
            *nodes[i].op.operands_mut()[place] = y;
            found = true;
        }
    }
    found
}

/// Changes a graph; says whether it did.
type Alteration = fn(&mut Vec<Node>, &mut Vec<luge_net::Parameter>) -> bool;

#[test]
fn labels_that_go_elsewhere_are_refused() {
    let alterations: [Alteration; 2] = [|nodes, _| y_for_z(nodes, true), |nodes, _| y_for_z(nodes, false)];
    for alter in alterations {
        let planted = faults::plant_in_graph(alter);
        let verdict = train("majority", None);
        assert!(planted.altered_a_graph());
        let why = verdict.expect_err("y in the place of z");
        assert!(why.contains("an input goes elsewhere"), "{why}");
    }
}

#[test]
fn the_first_command_looks_at_every_situation() {
    let job = TrainJob::of(Source::open("perceptron").expect("a learner")).expect("its data");
    let lesson = job.prepare().expect("a lesson");
    let report =
        lesson.follow(None, ObservationRate::Moments, |_| ControlFlow::Continue(())).expect("gradients");
    let expected =
        "all 426,204 steps; 1,067 distinct situations, each differentiated, every weight as the machine says";
    assert_eq!(report.certificate["gradient"].figures, expected);
    assert_eq!(format!("{:016x}", report.path), "614bc441d20f6b50");
    assert!(report.certificate.proves_the_run());
}

#[test]
fn numbers_that_the_engine_makes_up_are_refused() {
    assert_eq!(train("perceptron", None), Ok(()));
    for name in [
        "a digest that adds v + 2",
        "losses shifted by one",
        "a cell flipped and flipped back",
        "loss once halted",
        "another theta by the interpreter",
    ] {
        let planted = faults::plant(name);
        let verdict = train("perceptron", None);
        drop(planted);
        assert!(verdict.is_err(), "{name}");
    }
    let planted = faults::plant("loss at rest");
    let why = trace(BB4, None).expect_err("another loss at rest");
    drop(planted);
    assert!(why.contains("at rest the network has the loss"), "{why}");
}

/// The dense engine's digest is compared with the machine's vertices.
#[test]
fn a_digest_that_the_dense_engine_makes_up_is_refused() {
    let mut job = TrainJob::of(Source::open("mean").expect("a learner")).expect("its data");
    job.options.engine = EngineChoice::Dense;
    assert_eq!(certify(&job), Ok(()));
    let planted = faults::plant("a digest that adds v + 2");
    assert!(certify(&job).is_err());
    drop(planted);
}

/// Faults of the engine for streams: weights that go all of their way in 99 of 100 steps, or in one of them.
const STREAM_GAINS: [&str; 6] = [
    "stream cells",
    "stream heads",
    "stream vertices",
    "stream memory",
    "stream slot",
    "gain 1 now and then",
];

/// Faults in the graph of a network for streams.
const STREAM_GRAPHS: [(&str, Alteration); 8] = [
    ("the distance counted twice", |nodes, _| weight(nodes, "(D - [D]) / A", 0, 2.0)),
    ("the distance with another sign", |nodes, _| weight(nodes, "(D - [D]) / A", 0, -1.0)),
    ("a slot that closes", |nodes, _| weight(nodes, "running", 2, -1.0)),
    ("the memory not stopped", |nodes, _| unstopped(nodes, "[memory]")),
    ("the next memory not stopped", |nodes, _| unstopped(nodes, "[next memory]")),
    ("taking not stopped", |nodes, _| unstopped(nodes, "[take]")),
    ("fresh bits twice", |nodes, _| weight(nodes, "fresh bits", 0, 2.0)),
    ("labels of the batch that passes", |nodes, _| passing_labels(nodes)),
];

pub(crate) const N_STREAM_FAULTS: usize = STREAM_GAINS.len() + STREAM_GRAPHS.len();

/// Puts y in the place of the labels in the slot, where they become bits of the memory.
fn passing_labels(nodes: &mut [Node]) -> bool {
    let Some(y) = labels_fed(nodes) else { return false };
    let slot = nodes.iter_mut().find(|node| node.name == "-[z]");
    let operand = slot.and_then(|node| node.op.operands_mut().into_iter().next().map(|of| *of = y));
    operand.is_some()
}

#[test]
fn faults_on_streams_are_refused() {
    assert_eq!(stream("stream_mean"), Ok(()));
    let mut missed = Vec::new();
    for name in STREAM_GAINS {
        let planted = faults::plant(name);
        if stream("stream_mean").is_ok() {
            missed.push(name);
        }
        drop(planted);
    }
    for (name, alter) in STREAM_GRAPHS {
        let planted = faults::plant_in_graph(alter);
        if stream("stream_mean").is_ok() {
            missed.push(name);
        }
        assert!(planted.altered_a_graph(), "{name}");
    }
    for (kind, vertex) in (0..3).flat_map(|kind| (0..60).step_by(10).map(move |vertex| (kind, vertex))) {
        let planted = spoil(kind, vertex);
        if stream("stream_mean").is_ok() && planted.altered_a_graph() {
            missed.push("an arc");
        }
    }
    assert_eq!(missed, [""; 0]);
}
