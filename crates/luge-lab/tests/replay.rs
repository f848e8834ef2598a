//! Replays: any step equals the result of stepping there, and what is stored has a bounded size.

use luge::{
    draw::loss_curve::{Extremes, LossCurve},
    job::{Job, TraceJob, catalogue, source::Source},
    run::engine::EngineChoice,
};
use luge_lab::{
    PreparedJob, Scene,
    replay::{MAX_FRAME_BYTES, Profile, Survey},
};
use luge_landscape::LandscapeKind;
use luge_machine::{Simulator, TapeId};
use luge_train::{Dense, Engine, Precision, Rate};

const FOUR: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";
const FIVE: &str = "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";

fn with<R>(job: &Job, act: impl FnOnce(&Scene<'_>) -> R) -> R {
    act(&PreparedJob::open(job).expect("a job").scene().expect("a network"))
}

/// A machine by itself, with options of its own.
fn machine_with(text: &str, choose: impl FnOnce(&mut TraceJob)) -> Job {
    let mut job = TraceJob::new(Source::open(text).expect("a line"));
    choose(&mut job);
    Job::Trace(job)
}

fn machine(text: &str) -> Job {
    machine_with(text, |_| ())
}

fn shipped(name: &str) -> Job {
    catalogue::find(name).expect("it ships").job()
}

#[test]
fn every_step_is_where_stepping_leads() {
    for landscape in LandscapeKind::ALL {
        for engine in EngineChoice::ALL {
            let fast = matches!(engine, EngineChoice::Exact | EngineChoice::Sparse);
            let job = machine_with(FOUR, |job| {
                (job.options.landscape, job.options.manner.engine) = (landscape, engine);
            });
            if landscape == LandscapeKind::Internal && fast {
                assert!(PreparedJob::open(&job).is_err(), "{engine:?} has no layers to be fast with");
                continue;
            }
            with(&job, |scene| {
                let mut replay = scene.replay().expect("an engine");
                let mut stepped = replay.again().expect("an engine");
                replay.seek(u64::MAX, &mut || true).expect("gradients");
                assert_eq!(replay.end.map(|end| (end.steps, end.how)), Some((107, "halted")));
                let mut expected = Vec::new();
                for _ in 0..=107 {
                    expected.push((stepped.vertex(), stepped.loss().expect("a loss")));
                    stepped.step().expect("a gradient");
                }
                for step in [107, 0, 55, 54, 53, 106, 1, 2, 90] {
                    assert!(replay.seek(step, &mut || true).expect("gradients"));
                    let found = (replay.now().vertex(), replay.now().loss().expect("a loss"));
                    assert_eq!(found, expected[step as usize], "{landscape:?}, {engine:?}, step {step}");
                    assert_eq!((replay.step(), replay.front()), (step, 107));
                }
            });
        }
    }
}

#[test]
fn a_far_step_of_five_states_is_the_machine_s() {
    with(&machine(FIVE), |scene| {
        let mut replay = scene.replay().expect("an engine");
        let mut simulator = Simulator::new(scene.machine, &luge_machine::Input::blank());
        for step in [40_000_000, 39_999_999, 123_456, 47_176_870, 7] {
            replay.seek(step, &mut || true).expect("gradients");
            if simulator.steps() > step {
                simulator = Simulator::new(scene.machine, &luge_machine::Input::blank());
            }
            let _ = simulator.run(step);
            let seen = replay.look(Some(40));
            let head = scene.tapes.head(&seen.tapes, TapeId::new(0)).expect("a head");
            assert_eq!(head, simulator.head(TapeId::new(0)), "step {step}");
            let vertex = replay.now().vertex().expect("a vertex");
            assert_eq!(scene.state_at(vertex), Some(simulator.state()), "step {step}");
            for cell in head - 40..=head + 40 {
                let symbol = scene.tapes.symbol(&seen.tapes, TapeId::new(0), cell);
                assert_eq!(
                    symbol,
                    Some(simulator.tape(TapeId::new(0)).read(cell)),
                    "step {step}, cell {cell}"
                );
            }
        }
        assert!(replay.frame_bytes() < MAX_FRAME_BYTES);
    });
}

#[test]
fn a_seek_can_be_broken_off_and_taken_up_again() {
    with(&machine("1RB1RB_1LA1LA"), |scene| {
        let mut replay = scene.replay().expect("an engine");
        assert!(!replay.seek(u64::MAX, &mut || false).expect("gradients"));
        let there = replay.step();
        assert!(replay.seek(there + 10, &mut || true).expect("gradients"));
        assert_eq!(replay.step(), there + 10);
    });
}

#[test]
fn watching_stops_at_the_first_step_that_is_asked_for() {
    with(&machine(FOUR), |scene| {
        let mut replay = scene.replay().expect("an engine");
        let wanted = scene.machine.find_state("D");
        let mut hits = Vec::new();
        loop {
            let mut here = |engine: &mut dyn Engine| {
                Ok(engine.vertex().and_then(|vertex| scene.state_at(vertex)) == wanted)
            };
            if !replay.watch(u64::MAX, &mut here, &mut || true).expect("gradients") {
                break;
            }
            hits.push(replay.step());
        }
        let mut simulator = Simulator::new(scene.machine, &luge_machine::Input::blank());
        let mut expected = Vec::new();
        while simulator.step().is_ok() {
            if Some(simulator.state()) == wanted {
                expected.push(simulator.steps());
            }
        }
        assert_eq!(hits, expected);
    });
}

#[test]
fn the_survey_sees_every_loss_of_a_short_run_and_every_row() {
    with(&machine(FOUR), |scene| {
        let mut replay = scene.replay().expect("an engine");
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        let mut survey = Survey::new(&replay).expect("an engine");
        assert!(survey.follow(&replay, &mut || true).expect("gradients"));
        assert!(survey.done);
        assert_eq!((survey.curve.width(), survey.curve.columns().len()), (1, 108));
        let mut stepped = replay.again().expect("an engine");
        for column in survey.curve.columns() {
            let loss = stepped.loss().expect("a loss");
            assert_eq!(*column, Some(Extremes(loss, loss)));
            stepped.step().expect("a gradient");
        }
        let strip = survey.spacetime.strip(TapeId::new(0));
        assert_eq!(strip.steps, (0..=107).collect::<Vec<u64>>());
        assert_eq!(strip.pixels.len(), strip.width * 108);
        let inked = |row: usize| {
            let line = &strip.pixels[row * strip.width..(row + 1) * strip.width];
            line.iter().filter(|&&pixel| pixel == [255, 255, 255]).count()
        };
        // 13 ones at the end; the head is on a zero.
        assert_eq!((inked(0), inked(107)), (0, 13));
    });
}

#[test]
fn long_surveys_are_bounded() {
    with(&machine_with(FIVE, |job| job.options.steps = Some(3_000_000)), |scene| {
        let mut replay = scene.replay().expect("an engine");
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        assert_eq!(replay.end.map(|end| end.how), Some("step limit"));
        let mut survey = Survey::new(&replay).expect("an engine");
        survey.follow(&replay, &mut || true).expect("gradients");
        let columns = survey.curve.columns();
        assert!(columns.len() <= 640 && columns.iter().all(Option::is_some));
        let strip = survey.spacetime.strip(TapeId::new(0));
        assert!(strip.steps.len() <= 402 && strip.steps.len() > 200 && strip.width <= 640);
    });
}

/// The derivatives that are shown are those of automatic differentiation.
fn check_gradient(job: &Job, steps: &[u64]) {
    with(job, |scene| {
        let mut replay = scene.replay().expect("an engine");
        let network = scene.task.network;
        let layers = network.sparse_layers().expect("layers");
        for &step in steps {
            replay.seek(step, &mut || true).expect("gradients");
            let Some(parameters) = replay.parameters() else {
                panic!("step {step} does not fit the network")
            };
            let mut dense =
                Dense::new(network, &parameters, &scene.task.inputs, Precision::F64, Rate::One, None)
                    .expect("an engine");
            let gradient = dense.gradient().expect("a gradient");
            let found = replay.gradient(None).expect("a gradient");
            for (track, &row) in layers.table.rows.iter().enumerate() {
                let of = |block: &luge_net::Values| -> Vec<(i64, f64)> {
                    let entries = block.row(row).iter().enumerate().filter(|(_, slope)| **slope != 0.0);
                    entries.map(|(i, &slope)| (i as i64, slope)).collect()
                };
                let head = of(&gradient[layers.head.index()]);
                assert_eq!(found.heads[track], head, "head {track} at step {step}");
                // Hidden units have no derivative, whatever becomes of them.
                let cells = layers.cells.filter(|_| row < layers.table.n_trained);
                let pulled = cells.map_or_else(Vec::new, |cells| of(&gradient[cells.index()]));
                assert_eq!(found.cells[track], pulled, "cells {track} at step {step}");
            }
            if let Some(output) = layers.output {
                assert_eq!(found.labels, gradient[output.labels.index()].data, "labels at step {step}");
            }
        }
    });
}

#[test]
fn gradients_are_those_of_automatic_differentiation() {
    let input = vec!["000000000000*0000000000000".to_owned()];
    for landscape in [LandscapeKind::Compact, LandscapeKind::Plain] {
        for engine in EngineChoice::ALL {
            let job = machine_with(FOUR, |job| {
                job.input.clone_from(&input);
                (job.options.landscape, job.options.manner.engine) = (landscape, engine);
            });
            check_gradient(&job, &[0, 1, 2, 50, 106]);
        }
    }
    check_gradient(&shipped("mean"), &[0, 1, 2, 77, 136]);
}

#[test]
fn before_the_labels_are_read_the_gradient_reaches_them_alone() {
    for name in ["mean", "majority", "perceptron", "sgd_linear"] {
        with(&shipped(name), |scene| {
            let mut replay = scene.replay().expect("an engine");
            let mut flows = |step: u64| {
                replay.seek(step, &mut || true).expect("gradients");
                let moment = luge_lab::moment(&mut replay, 12).expect("a moment");
                moment["lesson"]["flows"].clone()
            };
            assert_eq!(flows(0), serde_json::json!([true, false, false, false]), "{name}");
            assert_eq!((&flows(1)[0], &flows(1)[1]), (&false.into(), &true.into()), "{name}");
        });
    }
}

#[test]
fn the_loss_around_a_noisy_vertex_is_that_of_the_weights() {
    for landscape in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let job = machine_with(FOUR, |job| {
            (job.options.landscape, job.options.manner.noise) = (landscape, Some((0.05, 0)));
        });
        with(&job, |scene| {
            let mut replay = scene.replay().expect("an engine");
            for step in [0, 3, 20] {
                replay.seek(step, &mut || true).expect("gradients");
                let (loss, gradient) = (
                    replay.now().loss().expect("a loss"),
                    replay.now().whole_gradient().expect("a gradient"),
                );
                let around = luge_lab::around(&mut replay).expect("gradients").expect("edges");
                let drawn = around["loss"].as_f64().expect("a loss");
                assert!((drawn - loss).abs() <= 1e-12 * loss, "{landscape:?}, step {step}: {drawn}, {loss}");
                // The slopes are derivatives at the weights themselves, so as many fall as automatic differentiation says.
                let slopes = &gradient.expect("a dense engine")[0].data;
                let point = &replay.parameters().expect("weights")[0].data;
                let here: f64 = point.iter().zip(slopes).map(|(x, slope)| x * slope).sum();
                let from = replay.now().vertex().expect("a vertex");
                let falls = |to: &usize| *to != from && slopes[*to] - here < 0.0;
                let n_falling = (0..slopes.len()).filter(falls).count() as u64;
                assert_eq!(around["n_falling"].as_u64(), Some(n_falling), "{landscape:?}, step {step}");
            }
        });
    }
}

#[test]
fn a_lesson_ends_with_its_answer() {
    with(&shipped("mean"), |scene| {
        let mut replay = scene.replay().expect("an engine");
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        assert_eq!(replay.end.map(|end| (end.steps, end.how)), Some((137, "halted")));
        let moment = luge_lab::moment(&mut replay, 8).expect("a moment");
        assert_eq!(moment["lesson"]["nodes"]["theta"], serde_json::json!([2.5625, 0.0]));
        assert_eq!((&moment["phase"], &moment["lesson"]["nodes"]["phi"]), (&"halted".into(), &0.0.into()));
    });
}

#[test]
fn the_completed_curve_holds_every_loss() {
    for engine in [EngineChoice::Exact, EngineChoice::Sparse] {
        let job = machine_with(FIVE, |job| {
            (job.options.steps, job.options.manner.engine) = (Some(60_000), engine);
        });
        with(&job, |scene| {
            let mut replay = scene.replay().expect("an engine");
            replay.seek(u64::MAX, &mut || true).expect("gradients");
            let mut survey = Survey::new(&replay).expect("an engine");
            survey.follow(&replay, &mut || true).expect("gradients");
            assert!(!survey.complete() && survey.curve.n_seen < 60_001);
            assert!(survey.complete_curve(&replay, &mut || true).expect("gradients"));
            assert_eq!(survey.curve.n_seen, 60_001);
            let mut stepped = replay.again().expect("an engine");
            let mut all = LossCurve::default();
            for step in 0..=60_000 {
                all.add(step, stepped.loss().expect("a loss"));
                stepped.step().expect("a gradient");
            }
            assert_eq!(survey.curve, all, "{engine:?}");
        });
    }
}

#[test]
fn a_scout_finds_the_end_and_leaves_the_view_where_it_is() {
    with(&machine(FOUR), |scene| {
        let mut replay = scene.replay().expect("an engine");
        replay.seek(10, &mut || true).expect("gradients");
        assert!(replay.find_end(&mut || true).expect("gradients"));
        assert_eq!((replay.step(), replay.front(), replay.end.map(|end| end.steps)), (10, 107, Some(107)));
    });
    with(&machine("1RB1RB_1LA1LA"), |scene| {
        let mut replay = scene.replay().expect("an engine");
        assert!(!replay.find_end(&mut || false).expect("gradients"));
        assert_eq!((replay.step(), replay.front(), replay.end), (0, 0, None));
    });
}

/// The loss around a vertex, as it is sent to the page.
fn around(job: &Job, step: u64) -> serde_json::Value {
    with(job, |scene| {
        let mut replay = scene.replay().expect("an engine");
        replay.seek(step, &mut || true).expect("gradients");
        luge_lab::around(&mut replay).expect("a gradient").unwrap_or_default()
    })
}

#[test]
fn the_step_goes_where_the_loss_around_says() {
    for (job, steps) in
        [(machine(FOUR), [0, 10, 50]), (shipped("mean"), [1, 40, 100]), (shipped("perceptron"), [2, 3, 5000])]
    {
        for step in steps {
            let around = around(&job, step);
            let (goes, next) = with(&job, |scene| {
                let mut replay = scene.replay().expect("an engine");
                replay.seek(step, &mut || true).expect("gradients");
                let here = replay.now().vertex();
                replay.seek(step + 1, &mut || true).expect("gradients");
                (here != replay.now().vertex(), replay.now().vertex())
            });
            let edges = around["edges"].as_array().expect("edges");
            let successor = edges.iter().find(|edge| edge["part"] == "successor");
            assert_eq!(successor.is_some(), goes, "step {step}");
            if let Some(successor) = successor {
                assert_eq!(successor["to"].as_u64(), next.map(|next| next as u64), "step {step}");
            }
        }
    }
}

#[test]
fn a_profile_counts_the_steps_that_begin_in_each_state() {
    with(&machine(FOUR), |scene| {
        let mut replay = scene.replay().expect("an engine");
        assert!(Profile::new(&replay).expect("an engine").is_none(), "the run is not over");
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        let mut profile = Profile::new(&replay).expect("an engine").expect("a run");
        profile.follow(&replay, &mut || true).expect("gradients");
        let mut expected = vec![0; scene.machine.states().len()];
        let mut simulator = Simulator::new(scene.machine, &luge_machine::Input::blank());
        loop {
            let state = simulator.state().index();
            if simulator.step().is_err() {
                break;
            }
            expected[state] += 1;
        }
        assert!(profile.done);
        assert_eq!(profile.visits, expected);
    });
}

#[test]
fn a_run_in_another_arithmetic_is_reached_from_its_frames() {
    let mut job = shipped("mean");
    let Job::Train(train) = &mut job else { panic!("a learner") };
    train.options.precision = Precision::F32;
    with(&job, |scene| {
        let mut replay = scene.replay().expect("an engine");
        assert_eq!(replay.chosen.engine, EngineChoice::Dense);
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        assert_eq!(replay.end.map(|end| (end.steps, end.how)), Some((137, "halted")));
        for step in [100, 33, 34, 136] {
            replay.seek(step, &mut || true).expect("gradients");
            let mut stepped = replay.again().expect("an engine");
            for _ in 0..step {
                stepped.step().expect("a gradient");
            }
            assert_eq!(replay.now().snapshot(), stepped.snapshot(), "step {step}");
        }
    });
}

#[test]
fn a_run_with_noise_can_be_gone_through_again() {
    let job = machine_with(FOUR, |job| {
        job.options.landscape = LandscapeKind::Plain;
        job.options.manner.noise = Some((0.05, 3));
    });
    with(&job, |scene| {
        let mut replay = scene.replay().expect("an engine");
        let mut stepped = replay.again().expect("an engine");
        replay.seek(u64::MAX, &mut || true).expect("gradients");
        assert_eq!(replay.end.map(|end| (end.steps, end.how)), Some((107, "halted")));
        while stepped.steps() < 60 {
            stepped.step().expect("a gradient");
        }
        for _ in 0..2 {
            replay.seek(60, &mut || true).expect("gradients");
            assert_eq!(replay.look(None), stepped.snapshot(), "the same noise again");
            replay.seek(80, &mut || true).expect("gradients");
        }
    });
}

#[test]
fn a_learner_s_step_needs_only_the_cells_near_its_heads() {
    for (name, steps) in [("mean", [1, 30, 100]), ("perceptron", [1, 3000, 300_000])] {
        with(&shipped(name), |scene| {
            let mut replay = scene.replay().expect("an engine");
            for step in steps {
                replay.seek(step, &mut || true).expect("gradients");
                let (whole, near) =
                    (replay.gradient(None).expect("one"), replay.gradient(Some(8)).expect("one"));
                assert_eq!(whole, near, "{name} at step {step}");
            }
        });
    }
}

#[test]
fn a_run_is_proved_and_broken_off() {
    let proof = |job: &Job, go_on: bool| {
        let proof = PreparedJob::open(job).expect("a job").prove(&|| go_on);
        proof.map(|proof| serde_json::to_value(&proof).expect("JSON"))
    };
    let perceptron = proof(&shipped("perceptron"), true).expect("a proof");
    assert_eq!((&perceptron["certified"], &perceptron["halted"]), (&true.into(), &true.into()));
    assert_eq!(perceptron["learned"]["after"]["right"], 150);
    for landscape in [LandscapeKind::Compact, LandscapeKind::Internal] {
        let job = machine_with(FOUR, |job| {
            (job.options.landscape, job.options.manner.noise) = (landscape, Some((0.05, 0)));
        });
        let noisy = proof(&job, true).expect("a proof");
        assert_eq!(noisy["certified"], false);
        assert!(noisy["first_mismatch"].as_u64().is_some_and(|step| step > 0 && step < 107), "{noisy}");
        let Job::Trace(job) = job else { unreachable!("a machine's run") };
        let traced = job.trace().expect("a trace");
        assert_eq!(noisy["path"], format!("{:016x}", traced.path), "the digest of `luge trace`");
    }
    assert!(proof(&machine(FIVE), false).is_none(), "nobody waits any more");
}

#[test]
fn rows_that_a_learner_does_not_see_are_judged_too() {
    let prepared = PreparedJob::open_with(
        &shipped("perceptron"),
        Some(
            "sepal_length,sepal_width,petal_length,petal_width,setosa\n5,3.5,1.4,0.2,1\n6,3,5,2,-1\n6,3,5,2,1\n",
        ),
        &mut || true,
    );
    let proof = prepared.expect("a job").prove(&|| true).expect("a proof");
    let held_out = serde_json::to_value(&proof).expect("JSON")["held_out"].clone();
    assert_eq!((&held_out[0], &held_out[2]["right"]), (&3.into(), &2.into()), "{held_out}");
}

#[test]
fn what_the_lab_cannot_show_is_refused() {
    let refusal =
        |job: &Job| PreparedJob::open(job).map(drop).map_err(|error| luge_lab::Refusal::from(&error));
    let part = |job: &Job| refusal(job).expect_err("a refusal").part;
    assert_eq!(part(&machine_with(FOUR, |job| job.options.manner.noise = Some((-0.1, 1)))), "options");
    assert_eq!(part(&machine_with(FOUR, |job| job.input = vec!["1".repeat(100_000)])), "input");
    let Job::Train(program) = shipped("xor_search") else { panic!("a learner") };
    let wrong_size = Job::Train(luge::job::TrainJob { primary: "linear".to_owned(), ..program.clone() });
    assert_eq!(part(&wrong_size), "options");
    let alone = refusal(&Job::Trace(TraceJob::new(program.source))).expect_err("a refusal");
    assert_eq!(
        (alone.part, alone.message.as_str()),
        ("data", "xor_search is a Sled program, not a machine: it needs data to learn from")
    );
}
