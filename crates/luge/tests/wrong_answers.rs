//! What would be a wrong answer without a word: numbers that wrap around, classes that are numbers, programs that never end. Formats
//! are chosen so that nothing wraps around, or refused.

use luge::{
    StreamJob,
    data::{ClassCode, PrepareOptions, Table},
    job::{Data, JobError, TrainJob, catalogue, source::Source},
    stream::{Order, Samples},
};

fn program(text: &str) -> Source {
    Source { name: "it".to_owned(), text: text.to_owned(), extension: Some("sled".to_owned()) }
}

fn csv(text: &str, prepare: PrepareOptions) -> Data {
    Data::Csv {
        name: "csv".to_owned(),
        text: text.to_owned(),
        target: vec!["y".to_owned()],
        features: None,
        saturate: false,
        prepare,
    }
}

fn job(text: &str, table: &str) -> TrainJob {
    TrainJob::new(program(text), csv(table, PrepareOptions::default()))
}

fn learner(body: &str) -> String {
    format!("learner f(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {{ {body} }}")
}

fn shipped(name: &str) -> &'static str {
    catalogue::find(name).expect("it ships").text
}

#[test]
fn no_more_bits_are_taken_than_the_answer_needs() {
    let sum = learner("for sample in data { theta[0] += y; theta[1] += x[0]; }");
    // 90 needs 8 bits with its sign; the fraction of 0.75 is small compared with it.
    let choice = job(&sum, "x,y\n0.25,40\n0.5,50\n").choose_format().expect("a format");
    assert_eq!(choice.format.to_string(), "fix:8.0");
    assert_eq!((choice.tolerance, choice.difference), (90.0 / 64.0, 0.75));
    let small = job(&sum, "x,y\n0.25,0.125\n0.5,0.25\n").choose_format().expect("a format");
    assert_eq!(small.format.to_string(), "fix:2.3");
    // Values on the way count as well: 300 needs 10 bits although the answer needs 6.
    let passing = learner("for sample in data { theta[0] = y * 10; theta[0] = theta[0] >> 4; }");
    let mut job = job(&passing, "x,y\n1,30\n");
    assert_eq!(job.choose_format().expect("a format").format.to_string(), "fix:10.1");
    let report =
        job.prepare().expect("a lesson").train(|_| std::ops::ControlFlow::Continue(())).expect("training");
    assert!(report.certificate.get("no_overflow").is_none());
}

#[test]
fn what_no_format_does_for_is_refused() {
    let refused = |body: &str, table: &str| {
        job(&learner(body), table).choose_format().expect_err("no format does").to_string()
    };
    let grows = "theta[0] = 1; for i in 0..40 { theta[0] = theta[0] + theta[0]; }";
    let words = "it: numbers of the program are too large for 32 bits, in line 1";
    assert_eq!(refused(grows, "x,y\n1,1\n"), words);
    let words = "it: the data have numbers that are too large for 32 bits";
    assert_eq!(refused("theta[0] = 1;", "x,y\n1,1e12\n"), words);
    assert_eq!(refused("reject;", "x,y\n1,1\n"), "it: the program rejects these data, in line 1");
}

#[test]
fn a_format_in_the_signature_stays() {
    let named = "learner f(x: [fix<6,3>; M], y: fix<6,3>) -> theta: [fix<6,3>; M + 1] { theta[0] = 2; }";
    let choice = job(named, "x,y\n1,1\n").choose_format().expect("one");
    assert_eq!(choice.format.to_string(), "fix:6.3");
}

#[test]
fn a_program_that_repeats_itself_is_refused() {
    let mut job = job(shipped("perceptron"), "x,y\n1,1\n1,-1\n");
    let words = job.choose_format().expect_err("no end").to_string();
    assert!(words.contains("never ends") && words.contains("perceptron_rounds"), "{words}");
    assert_eq!(job.prepare().err().map(|error| error.to_string()), Some(words));
    // One that only takes long is none.
    let long = learner("let n: int<16>; while n < 9000 { n += 1; } theta[0] = 1;");
    assert!(self::job(&long, "x,y\n1,1\n").prepare().is_ok());
}

#[test]
fn whole_numbers_are_classes_where_the_learner_wants_classes() {
    let wine = "x,y\n1,0\n2,1\n3,2\n4.5,2\n";
    let table =
        |source: &str, asked: PrepareOptions| TrainJob::new(program(source), csv(wine, asked)).table();
    let centroid = table(shipped("nearest_centroid"), PrepareOptions::default()).expect("a table");
    assert_eq!(centroid.label_names, ["y=0", "y=1", "y=2"]);
    assert_eq!(centroid.labels.data, [1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 1.]);
    assert_eq!(centroid.notes, ["column `y` has the classes 0, 1, 2; --classes numbers keeps numbers"]);
    let each = PrepareOptions { classes: ClassCode::Each, ..PrepareOptions::default() };
    let asked = table(shipped("sgd_linear"), each).expect("a table");
    assert_eq!(asked.label_names, ["y=0", "y=1", "y=2"]);
    // A learner of numbers keeps them, a learner of two classes cannot have three.
    assert_eq!(table(shipped("sgd_linear"), PrepareOptions::default()).expect("numbers").label_names, ["y"]);
    let words = table(shipped("perceptron"), PrepareOptions::default()).expect_err("three").to_string();
    assert_eq!(words, "csv: column `y` has 3 classes, and only two can be -1 and 1");
}

#[test]
fn numbers_that_are_no_classes_are_refused_and_two_classes_become_signs() {
    let read = |text: &str, classes: ClassCode| {
        let asked = PrepareOptions { classes, ..PrepareOptions::default() };
        Table::read_prepared(text, &["y".to_owned()], None, &asked)
    };
    let refused = read("x,y\n1,0.5\n2,1\n", ClassCode::Each).expect_err("no class").to_string();
    let words = "column `y` has numbers such as 0.5, and classes are at most 32 whole numbers, or words";
    assert_eq!(refused, words);
    let many: String = (0..40).map(|i| format!("{i},{i}\n")).collect();
    let refused = read(&format!("x,y\n{many}"), ClassCode::Each).expect_err("too many").to_string();
    assert!(refused.starts_with("column `y` has 40 different numbers"), "{refused}");
    let signs = read("x,y\n1,0\n2,1\n", ClassCode::Signs).expect("two classes");
    assert_eq!(signs.labels.data, [-1.0, 1.0]);
    // The same class may be written in other ways in new data.
    let new = signs.preparation.read_new("y,x\n1.0,5\n0,6\n7,7\n").expect("new data");
    assert_eq!(new.labels.expect("labels").data, [1.0, -1.0, f64::INFINITY]);
    assert!(read("x,y\n1,-1\n2,1\n", ClassCode::Signs).expect("signs").preparation.is_plain());
}

#[test]
fn a_number_outside_names_the_format_that_holds_its_column() {
    let mut job = job(&learner("theta[0] = 1;"), "x,y\n1,3\n1001,-4\n-2000,1\n");
    job.options.format = "fix:8.4".parse().expect("a format");
    let words = job.table().expect_err("too large").to_string();
    let place = "csv: line 3, column `x`: 1001 lies outside fix:8.4, which reaches from -128 to 127.9375";
    assert_eq!(words, format!("{place}; fix:12.4 holds the column"));
}

#[test]
fn dates_are_no_features() {
    for date in ["2024-05-31", "31.05.2024", "5/31/2024", "2024-05-31T12:00:00Z"] {
        let words = job(&learner("theta[0] = 1;"), &format!("x,y\n{date},1\n")).table();
        let words = words.expect_err("a date").to_string();
        assert_eq!(words, format!("csv: line 2, column `x`: `{date}` is a date, and learners take numbers"));
    }
    let words = job(&learner("theta[0] = 1;"), "x,y\n1-2,1\n").table().expect_err("a word").to_string();
    assert!(words.contains("the column has 1 different words"), "{words}");
}

#[test]
fn streams_say_where_numbers_wrapped_around() {
    let counts = |rounds: u32| {
        let body = format!("let n: int<12>; while n < {rounds} {{ take; theta[0] += 1; n += 1; }}");
        let table = Table::read("x,y\n1,1\n".as_bytes(), &["y".to_owned()], None).expect("a table");
        let mut job = StreamJob::new(program(&learner(&body)), Samples::Table(table, Order::Cycle));
        job.options.format = "fix:8.0".parse().expect("a format");
        let lesson = job.prepare().expect("a lesson");
        lesson.train(|_| std::ops::ControlFlow::Continue(())).expect("training")
    };
    let wrapped = counts(200);
    assert_eq!(wrapped.theta[..1], [-56.0]);
    let claim = &wrapped.certificate["no_overflow"];
    let words = "1 number was too large for their types and wrapped around before the answer, in line 1 of the program";
    assert_eq!((claim.holds, &*claim.figures), (false, words));
    assert!(wrapped.certificate.proves_the_run());
    assert!(wrapped.certificate.claims().contains(&("no_overflow", claim)));
    let held = counts(100);
    assert!(held.theta[..1] == [100.0] && held.certificate.get("no_overflow").is_none());
}

/// The chosen format holds the numbers of the run itself, whose machine takes other samples than the first ones that pass.
#[test]
fn streams_choose_a_format() {
    let chosen = |body: &str, samples: Samples| {
        let mut job = StreamJob::new(program(&learner(body)), samples);
        let format = job.choose_format().expect("a format").format.to_string();
        let report = job.prepare().expect("a lesson").train(|_| std::ops::ControlFlow::Continue(()));
        (format, report.expect("training"))
    };
    let table = |text: &str| {
        let table = Table::read(text.as_bytes(), &["y".to_owned()], None).expect("a table");
        Samples::Table(table, Order::Cycle)
    };
    let count = "let n: int<12>; while n < 200 { take; theta[0] += 1; n += 1; }";
    let (format, report) = chosen(count, table("x,y\n1,1\n"));
    assert_eq!((format.as_str(), report.theta[0]), ("fix:9.0", 200.0));
    assert!(report.certificate.get("no_overflow").is_none());
    // The fifth row is large. The machine takes it only because the first rows pass while it is busy.
    let sum = "let n: int<4>; while n < 3 { take; theta[0] += y; n += 1; }";
    let (format, report) = chosen(sum, table("x,y\n1,1\n1,1\n1,1\n1,1\n1,100\n"));
    assert!(report.certificate.get("no_overflow").is_none(), "{format}: theta {:?}", report.theta);
    let halfspace = Samples::Draw("halfspace:features=1".parse().expect("a draw"));
    let (format, report) =
        chosen("let n: int<8>; while n < 40 { take; theta[1] += x[0]; n += 1; }", halfspace);
    assert!(
        report.certificate.get("no_overflow").is_none() && format.ends_with(".2"),
        "{format}: {:?}",
        report.theta
    );
    // A circuit passes over rows, too: those that are large.
    let large = "1,100\n".repeat(9);
    let mut mlp = StreamJob::new(program(&learner(sum)), table(&format!("x,y\n1,1\n1,1\n1,1\n{large}")));
    mlp = mlp.on(luge::stream::StreamLandscape::Mlp);
    let format = mlp.choose_format().expect("a format").format.to_string();
    let report = mlp.prepare_mlp().expect("a network").train(|_| std::ops::ControlFlow::Continue(()));
    assert!(report.expect("training").wraps.is_empty() && format == "fix:9.0", "{format}");
    let machine = StreamJob::new(Source::open("parity_machine").expect("it ships"), table("x,y\n1,1\n"))
        .choose_format();
    assert!(machine.expect_err("a machine").to_string().contains("one format only"));
}

#[test]
fn errors_of_jobs_can_be_told_apart() {
    let refused = job(shipped("perceptron"), "x,y\n1,1\n1,-1\n").prepare().err();
    assert!(matches!(refused, Some(JobError::Repeats { line: 13, perceptron: true, .. })), "{refused:?}");
}
