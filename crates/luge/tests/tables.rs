//! Tables as people have them: words, gaps, scales, and rows held out; and that a model does to new data what was done to its own.

use luge::{
    data::{Answer, ClassCode, Missing, PrepareOptions, Scale, Score, Split, Table},
    files::model::Model,
    job::{Data, TrainJob, source::Source},
};

fn read(text: &str, asked: &PrepareOptions) -> Result<Table, String> {
    Table::read_prepared(text, &["y".to_owned()], None, asked).map_err(|error| error.to_string())
}

fn table(text: &str, asked: &PrepareOptions) -> Table {
    read(text, asked).expect("a table")
}

fn plain() -> PrepareOptions {
    PrepareOptions::default()
}

const FLOWERS: &str = "length,y\n1,setosa\n5,virginica\n3,versicolor\n1.5,setosa\n";

#[test]
fn words_of_a_target_become_classes() {
    let each = table(FLOWERS, &plain());
    assert_eq!(each.label_names, ["y=setosa", "y=versicolor", "y=virginica"]);
    assert_eq!(each.labels.data, [1., 0., 0., 0., 0., 1., 0., 1., 0., 1., 0., 0.]);
    let numbers = table(FLOWERS, &PrepareOptions { classes: ClassCode::Column, ..plain() });
    assert_eq!((numbers.label_names, numbers.labels.data), (vec!["y".to_owned()], vec![0., 2., 1., 0.]));
    let signs = table("x,y\n1,no\n2,yes\n3,no\n", &plain());
    assert_eq!((signs.label_names, signs.labels.data), (vec!["y".to_owned()], vec![-1., 1., -1.]));
    let refused =
        read(FLOWERS, &PrepareOptions { classes: ClassCode::Signs, ..plain() }).expect_err("three classes");
    assert_eq!(refused, "column `y` has 3 classes, and only two can be -1 and 1");
    let single = read("x,y\n1,no\n2,no\n", &plain()).expect_err("one class");
    assert_eq!(single, "column `y` has a single class, `no`: there is nothing to learn");
}

#[test]
fn outputs_are_told_as_classes() {
    let each = table(FLOWERS, &plain()).preparation;
    assert_eq!(each.answers(&[0.1, 0.7, 0.6]), [Answer::Class("versicolor")]);
    let signs = table("x,y\n1,no\n2,yes\n", &plain()).preparation;
    assert_eq!(signs.answers(&[0.3]), [Answer::Class("yes")]);
    assert_eq!(signs.answers(&[-0.3]), [Answer::Class("no")]);
    let numbers = table(FLOWERS, &PrepareOptions { classes: ClassCode::Numbers, ..plain() }).preparation;
    assert_eq!(numbers.answers(&[1.7]), [Answer::Class("virginica")]);
    assert_eq!(numbers.answers(&[-7.0]), [Answer::Class("setosa")]);
}

#[test]
fn words_of_a_feature_need_columns_of_their_own() {
    let text = "colour,y\nred,1\nblue,2\nred,3\n";
    let refused = read(text, &plain()).expect_err("words");
    assert_eq!(refused, "line 2, column `colour`: `red` is not a number; the column has 2 different words");
    let hot = table(text, &PrepareOptions { one_hot: true, ..plain() });
    assert_eq!(hot.feature_names, ["colour=blue", "colour=red"]);
    assert_eq!(hot.features.data, [0., 1., 1., 0., 0., 1.]);
    let new = hot.preparation.read_new("colour\nblue\n").expect("known words");
    assert_eq!(new.features.data, [1., 0.]);
    let unknown = hot.preparation.read_new("colour\nblue\ngreen\n").expect_err("a new word");
    let says = "line 3, column `colour`: `green` was not among the training data; there were blue, red";
    assert_eq!(unknown.to_string(), says);
}

const GAPS: &str = "a,b,y\n1,,1\n3,4,2\nNA,8,3\n";

#[test]
fn gaps_are_refused_filled_or_dropped() {
    assert_eq!(read(GAPS, &plain()).expect_err("a gap"), "line 2, column `b`: the value is missing");
    let filled = |missing: Missing| table(GAPS, &PrepareOptions { missing, ..plain() }).features.data;
    assert_eq!(filled(Missing::Mean), [1., 6., 3., 4., 2., 8.]);
    assert_eq!(filled(Missing::Zero), [1., 0., 3., 4., 0., 8.]);
    let dropped = table(GAPS, &PrepareOptions { missing: Missing::Drop, ..plain() });
    assert_eq!((dropped.features.data, dropped.labels.data), (vec![3., 4.], vec![2.]));
    assert_eq!(dropped.notes, ["2 of 3 rows are left out: a value is missing in them"]);
    let label =
        read("a,y\n1,\n", &PrepareOptions { missing: Missing::Mean, ..plain() }).expect_err("no label");
    assert_eq!(label, "line 2, column `y`: the label is missing");
    let mean = table(GAPS, &PrepareOptions { missing: Missing::Mean, ..plain() }).preparation;
    assert_eq!(mean.read_new("b,a\n,5\n").expect("filled").features.data, [5., 6.]);
}

#[test]
fn scales_are_learned_from_the_training_rows_and_kept() {
    let text = "a,b,y\n0,7,1\n2,7,2\n4,7,3\n";
    let minmax = table(text, &PrepareOptions { scale: Scale::MinMax, ..plain() });
    assert_eq!(minmax.features.data, [0., 0., 0.5, 0., 1., 0.]);
    assert_eq!(minmax.preparation.read_new("a,b\n8,9\n").expect("numbers").features.data, [2., 2.]);
    let standard = table("a,y\n0,1\n2,2\n4,3\n6,1\n", &PrepareOptions { scale: Scale::Standard, ..plain() });
    let (mean, squares) =
        standard.features.data.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    assert!(mean.abs() < 1e-12 && (squares / 4.0 - 1.0).abs() < 1e-12, "{:?}", standard.features.data);
}

#[test]
fn rows_are_held_out_by_chance_that_can_be_repeated() {
    let rows: String = (0..100).map(|i| format!("{i},{i}\n")).collect();
    let split = |seed| PrepareOptions { split: Some(Split { fraction: 0.2, seed }), ..plain() };
    let first = table(&format!("x,y\n{rows}"), &split(1));
    let held_out = first.held_out.as_ref().expect("rows held out");
    assert_eq!((first.n_samples(), held_out.n_samples()), (80, 20));
    let mut all: Vec<f64> = first.features.data.iter().chain(&held_out.features.data).copied().collect();
    all.sort_by(f64::total_cmp);
    assert_eq!(all, (0..100).map(f64::from).collect::<Vec<_>>());
    assert_eq!(first, table(&format!("x,y\n{rows}"), &split(1)));
    assert_ne!(first.features, table(&format!("x,y\n{rows}"), &split(2)).features);
    assert!(read("x,y\n1,1\n2,2\n", &split(1)).is_err_and(|said| said.contains("leaves no row")));
}

#[test]
fn a_column_without_a_name_is_left_out() {
    let indexed = table(",x,y\n0,5,1\n1,6,2\n", &plain());
    assert_eq!(indexed.feature_names, ["x"]);
    assert_eq!(indexed.notes, ["a column without a name left out; --features names those to learn from"]);
}

/// Whole numbers of rows, quickly: nothing in reading a table grows faster than the table.
#[test]
fn a_million_rows_are_read() {
    let text: String =
        (0..1_000_000).map(|i| format!("{},{},{}.5,{},k{}\n", i % 7, i % 11, i % 13, i, i % 3)).collect();
    let all =
        PrepareOptions { scale: Scale::Standard, split: Some(Split { fraction: 0.1, seed: 3 }), ..plain() };
    let table = table(&format!("a,b,c,d,y\n{text}"), &all);
    assert_eq!((table.n_samples(), table.features.shape.cols, table.labels.shape.cols), (900_000, 4, 3));
}

/// A perceptron on words, scaled, with gaps and rows held out: the model file keeps what it needs.
#[test]
fn a_model_prepares_new_data_as_its_own() {
    let rows: String = (0..40)
        .map(|i| {
            format!("{},{},{}\n", if i < 20 { i } else { i + 40 }, if i == 7 { "" } else { "2" }, kind(i))
        })
        .collect();
    let text = format!("size;weight;y\n{}", rows.replace(',', ";"));
    let asked = PrepareOptions {
        missing: Missing::Mean,
        scale: Scale::MinMax,
        split: Some(Split { fraction: 0.25, seed: 5 }),
        ..plain()
    };
    let target = vec!["y".to_owned()];
    let name = "flowers.csv".to_owned();
    let data = Data::Csv {
        name: name.clone(),
        text: text.clone(),
        target,
        features: None,
        saturate: false,
        prepare: asked,
    };
    let mut job = TrainJob::new(Source::open("perceptron").expect("it ships"), data);
    job.options.format = "fix:8.6".parse().expect("a format");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| std::ops::ControlFlow::Continue(())).expect("gradients");
    assert!(report.certificate.proves_the_run());
    assert_eq!(report.classified, Some(30));
    let Some(Score::Classified { right, of: 10 }) = report.tested else { panic!("{:?}", report.tested) };
    assert!(right >= 9, "{right}");
    let bytes = Model::new(&lesson, &report).to_bytes("it").expect("bytes");
    let model = Model::from_bytes(&bytes, "it".to_owned()).expect("a model");
    let new =
        model.card.preparation.read_new("y;weight;size\nlarge;2,5;70\nsmall;;1\nhuge;2;0\n").expect("data");
    let primary = model.primary().expect("a network");
    let out = luge::files::predictor::Predictor::new(&*primary, model.theta.clone()).predict(&new.features);
    let answers: Vec<_> = (0..3).map(|row| model.card.preparation.answers(out.row(row))).collect();
    assert_eq!(answers, [[Answer::Class("large")], [Answer::Class("small")], [Answer::Class("small")]]);
    let score = model.card.preparation.score(&out, new.labels.as_ref().expect("labels"));
    assert_eq!(score, Some(Score::Classified { right: 2, of: 3 }));
    // The same file again gives the same numbers and the same preparation.
    let again = model.data(name, text, false).read(model.card.options.format).expect("a table");
    assert_eq!((&again.preparation, &again.features), (&model.card.preparation, &lesson.table().features));
}

fn kind(i: u32) -> &'static str {
    if i < 20 { "small" } else { "large" }
}

/// A flipped bit anywhere in a model file is noticed before anything is predicted.
#[test]
fn every_flipped_bit_of_a_model_is_refused() {
    let job = TrainJob::of(Source::open("copy_label").expect("it ships")).expect("a job");
    let lesson = job.prepare().expect("a lesson");
    let report = lesson.train(|_| std::ops::ControlFlow::Continue(())).expect("gradients");
    let bytes = Model::new(&lesson, &report).to_bytes("it").expect("bytes");
    Model::from_bytes(&bytes, "it".to_owned()).expect("a model");
    // Not the padding behind the header: spaces that safetensors itself does not look at.
    let header =
        8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))).expect("small");
    let content = bytes[..header].iter().rposition(|&byte| byte != b' ').expect("a header") + 1;
    for at in (8..content).chain(header..bytes.len()) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Model::from_bytes(&flipped, "it".to_owned()).is_err(), "byte {at}");
    }
}
