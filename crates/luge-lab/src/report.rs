//! Reports: the page with a recorded run, in one file.

use std::fmt::Write as _;

use luge_machine::TapeId;
use serde_json::{Value, json};

use super::{
    PreparedJob, RunError, Scene, StreamRecording,
    assets::{self, ASSETS},
    views,
};
use crate::replay::{Profile, Replay, Strip, Survey, evenly_spaced};
use luge::{draw::plot::grouped, run::engine::EngineError};

/// The most moments that are recorded.
pub const MAX_MOMENTS: usize = 400;

/// The most moments that are recorded with all views.
const MAX_AROUND: usize = 40;

/// Cells on each side of a head.
const RADIUS: usize = 16;

/// A finished report.
#[derive(Debug)]
pub struct Report {
    /// The page.
    pub html: String,
    /// The loss over the run.
    pub loss_svg: String,
    /// One space-time picture per tape.
    pub pictures: Vec<(String, Strip)>,
    /// Gradient steps that were made.
    pub steps: u64,
    /// How the run ended.
    pub end: &'static str,
    /// Moments that were recorded.
    pub n_moments: usize,
}

impl Report {
    /// Makes a run while `go_on` returns true, and records `n_moments` of it, evenly spaced.
    ///
    /// # Errors
    /// If a step cannot be computed, or the run was interrupted.
    pub fn new(
        prepared: &PreparedJob,
        n_moments: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, RunError> {
        let (scene, n_moments) = (prepared.scene()?, n_moments.clamp(2, MAX_MOMENTS));
        let mut replay = scene.replay()?;
        while replay.end.is_none() {
            if !replay.seek(u64::MAX, go_on)? {
                return Err(RunError::BrokenOff);
            }
        }
        Ok(record(prepared, replay, n_moments)?)
    }
}

fn record(prepared: &PreparedJob, mut replay: Replay<'_>, n_moments: usize) -> Result<Report, EngineError> {
    let scene = replay.scene;
    // The run has ended within its limits, so it can be repeated.
    let proof = prepared.prove(&|| true);
    let mut survey = Survey::new(&replay)?;
    survey.follow(&replay, &mut || true)?;
    survey.complete_curve(&replay, &mut || true)?;
    let steps = replay.front();
    let n_moments = n_moments.min(usize::try_from(steps).unwrap_or(usize::MAX).saturating_add(1)).max(1);
    let every = n_moments.div_ceil(MAX_AROUND);
    let mut moments = Vec::with_capacity(n_moments);
    for (i, step) in evenly_spaced(steps, n_moments).enumerate() {
        replay.seek(step, &mut || true)?;
        let closely = i % every == 0 || i + 1 == n_moments;
        moments.push(json!({
            "moment": views::moment(&mut replay, RADIUS)?,
            "around": if closely { views::around(&mut replay)? } else { None },
            "nearby": if closely { views::nearby(&replay)? } else { None },
            "surface": if closely { views::surface(&mut replay)? } else { None },
            "boundary": if closely { views::boundary(&replay, None) } else { None },
        }));
    }
    let strips: Vec<Strip> = scene.machine.tape_ids().map(|tape| survey.spacetime.strip(tape)).collect();
    let picture = |(tape, strip)| views::picture(strip, tape, false);
    let record = json!({
        "job": prepared.job,
        "opening": views::opening(&replay),
        "moments": moments,
        "overview": views::overview(&survey),
        "pictures": strips.iter().enumerate().map(picture).collect::<Vec<_>>(),
        "profile": profile(&replay)?,
        "proof": proof,
    });
    let tape_name = |tape: usize| scene.machine.tape(TapeId::new(tape)).name.clone();
    Ok(Report {
        html: page("/index.html", &record),
        loss_svg: loss_svg(scene, &survey, steps),
        pictures: strips.into_iter().enumerate().map(|(tape, strip)| (tape_name(tape), strip)).collect(),
        steps,
        end: replay.end.map_or("", |end| end.how),
        n_moments,
    })
}

/// The steps of each line, where lines are known.
fn profile(replay: &Replay<'_>) -> Result<Option<Value>, EngineError> {
    let lines_known = replay.scene.prepared.lines.iter().any(Option::is_some);
    let Some(mut profile) = Profile::new(replay)?.filter(|_| lines_known) else { return Ok(None) };
    profile.follow(replay, &mut || true)?;
    Ok(Some(views::line_profile(replay.scene, &profile.visits)))
}

/// The report of a run on a stream.
#[must_use]
pub fn stream_report(recording: &StreamRecording) -> String {
    page("/stream.html", &recording.record)
}

/// A page that contains its style sheet, its modules and the record.
fn page(path: &str, record: &Value) -> String {
    // Only these could end the script element.
    let json = record.to_string().replace("</", "<\\/").replace("<!--", "<\\!--");
    let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    let html = text(path);
    let entry = html.split_once("<script type=\"module\" src=\"").and_then(|(_, rest)| rest.split_once('"'));
    let entry = entry.map_or("", |(entry, _)| entry);
    let script = format!(
        "<script type=\"application/json\" id=\"record\">{json}</script>\n<script type=\"module\">\n{}</script>",
        bundle(&format!("/{entry}"))
    );
    html.replace("<link rel=\"icon\" href=\"icon.svg\" type=\"image/svg+xml\">", &meta)
        .replace(
            "<link rel=\"stylesheet\" href=\"style.css\">",
            &format!("<style>\n{}</style>", text("/style.css")),
        )
        .replace(&format!("<script type=\"module\" src=\"{entry}\"></script>"), &script)
}

fn text(path: &str) -> &'static str {
    assets::at(path).map_or("", |asset| std::str::from_utf8(asset.bytes).unwrap_or(""))
}

/// The paths of the modules that a module imports.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.starts_with("import "));
    lines.filter_map(|line| line.split('"').nth(1)).map(|from| from.trim_start_matches('.'))
}

/// A page's modules as one: they share no names, and the assets are in the order of their imports.
fn bundle(entry: &str) -> String {
    let mut needed = vec![entry];
    let mut all = Vec::new();
    for asset in ASSETS.iter().rev().filter(|asset| asset.path.ends_with(".js")) {
        if needed.contains(&asset.path) {
            needed.extend(imports(text(asset.path)));
            all.push(text(asset.path));
        }
    }
    let lines = all.iter().rev().flat_map(|text| text.lines()).filter(|line| !line.starts_with("import "));
    let mut joined = String::new();
    for line in lines {
        // Writing into a string does not fail.
        let _ = writeln!(joined, "{}", line.strip_prefix("export ").unwrap_or(line));
    }
    joined
}

fn loss_svg(scene: &Scene<'_>, survey: &Survey<'_>, steps: u64) -> String {
    let subtitle = format!("{} gradient steps on {}", grouped(steps), scene.kind.word());
    survey.curve.draw(&scene.prepared.name, &subtitle, scene.kind, &scene.bounds, None)
}

#[cfg(test)]
mod tests {
    use luge::job::{Job, TraceJob, source::Source};

    use super::*;

    fn report(job: TraceJob, n_moments: usize, go_on: &mut dyn FnMut() -> bool) -> Result<Report, RunError> {
        Report::new(&PreparedJob::open(&Job::Trace(job))?, n_moments, go_on)
    }

    #[test]
    fn modules_come_after_what_they_import() {
        let mut seen: Vec<&str> = Vec::new();
        for asset in ASSETS.iter().filter(|asset| asset.path.ends_with(".js")) {
            for from in imports(text(asset.path)) {
                assert!(seen.contains(&from), "{} imports {from}, which comes later", asset.path);
            }
            seen.push(asset.path);
        }
    }

    #[test]
    fn a_report_needs_nothing_else_and_no_text_ends_its_script() {
        let mut job = TraceJob::new(Source::open("1RB1LB_1LA1RH").expect("a line"));
        "</script><img src=x>".clone_into(&mut job.source.name);
        let report = report(job, 100, &mut || true).expect("a report");
        assert_eq!((report.steps, report.end, report.n_moments), (6, "halted", 7));
        assert!(!report.html.contains("</script><img"));
        for outside in
            ["src=\"main.js\"", "href=\"style.css\"", "href=\"icon.svg\"", "\nimport ", "\nexport "]
        {
            assert!(!report.html.contains(outside), "{outside}");
        }
        assert!(report.loss_svg.starts_with("<svg"));
        let (name, strip) = &report.pictures[0];
        let figure = strip.draw(name).expect("a picture");
        assert!(figure.starts_with("<svg") && figure.contains("data:image/png;base64,"));
        assert!(figure.contains(">cell</text>") && figure.contains(">gradient steps</text>"));
    }

    #[test]
    fn a_run_can_be_broken_off() {
        let job = TraceJob::new(Source::open("1RB1RB_1LA1LA").expect("a line"));
        let refused = report(job, 10, &mut || false);
        assert!(matches!(refused, Err(RunError::BrokenOff)));
    }

    #[test]
    fn a_report_of_a_long_run_is_bounded() {
        let mut job = TraceJob::new(Source::open("bb5").expect("it ships"));
        job.options.steps = Some(2_000_000);
        let report = report(job, 1000, &mut || true).expect("a report");
        assert_eq!((report.n_moments, report.end), (MAX_MOMENTS, "step limit"));
        assert!(report.html.len() < 4 << 20, "{} bytes", report.html.len());
    }
}
