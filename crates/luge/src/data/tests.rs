use super::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn read(csv: &str, features: Option<&[&str]>) -> Result<Table, TableError> {
    Table::read(csv.as_bytes(), &names(&["y"]), features.map(names).as_deref())
}

fn message(csv: &str, features: Option<&[&str]>) -> String {
    read(csv, features).unwrap_err().to_string()
}

#[test]
fn features_are_what_is_not_a_target() {
    let table = read("a, y ,b\n1,2,3\n-4, 5e-1,0.25\n", None).unwrap();
    assert_eq!(table.feature_names, ["a", "b"]);
    assert_eq!(table.label_names, ["y"]);
    assert_eq!(table.features, Values::new(Shape::new(2, 2), vec![1.0, 3.0, -4.0, 0.25]));
    assert_eq!(table.labels, Values::column(vec![2.0, 0.5]));
    assert_eq!(table.n_samples(), 2);
}

#[test]
fn features_come_in_the_order_asked_for() {
    let table = read("a,y,b\n1,2,3\n", Some(&["b", "a"])).unwrap();
    assert_eq!(table.features.data, [3.0, 1.0]);
}

#[test]
fn without_targets_there_are_no_labels() {
    let table = Table::read("a,b\n1,2\n3,4\n".as_bytes(), &[], None).unwrap();
    assert_eq!(table.labels.shape, Shape::new(2, 0));
    assert_eq!(table.features.data, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn broken_tables() {
    assert_eq!(message("a,b\n1,2\n", None), "there is no column `y`; the columns are a, b");
    assert_eq!(message("a,y\n1,2\n", Some(&["c"])), "there is no column `c`; the columns are a, y");
    assert_eq!(message("a,a,y\n1,2,3\n", None), "duplicate column `a` in the header");
    let both = "column `y` is named both as a feature and as the target";
    assert_eq!(message("a,y\n1,2\n", Some(&["a", "y"])), both);
    assert_eq!(message("y\n1\n", None), "no column is left for the features");
    assert_eq!(message("a,y\n", None), "the table has a header but no rows");
    assert_eq!(message("a,y\n1,2\n1,two\n", None), "line 3, column `y`: `two` is not a finite number");
    assert_eq!(message("a,y\n,2\n", None), "line 2, column `a`: the value is missing");
    assert_eq!(message("a,y\n1,inf\n", None), "line 2, column `y`: `inf` is not a finite number");
    assert_eq!(message("a,y\nNaN,1\n", None), "line 2, column `a`: the value is missing");
    assert_eq!(
        message("a,y\n1,2\n1,2,3\n", None),
        "not a CSV table: CSV error: record 2 (line: 3, byte: 8): found record with 3 fields, but the previous \
         record has 2 fields"
    );
}

#[test]
fn blank_lines_count() {
    let csv = "a,y\n1,2\n\n\n3,x\n";
    assert_eq!(message(csv, None), "line 5, column `y`: `x` is not a finite number");
    assert_eq!(read("\na,y\n1,2\n\n3,4", None).unwrap().lines, Some(vec![3, 5]));
}

#[test]
fn lines_end_in_either_way() {
    let csv = "a,y\r\n1,2\r\n\r\n3,x\r\n";
    assert_eq!(message(csv, None), "line 4, column `y`: `x` is not a finite number");
    assert_eq!(read("a,y\r\n1,2\r\n3,4\r\n", None).unwrap().lines, Some(vec![2, 3]));
}

#[test]
fn numbers_out_of_range() {
    let format: NumberFormat = "fix:3.2".parse().unwrap();
    let table = read("a,b,y\n1,2,3\n\n-4,3.75,-4.5\n0,4,1\n", None).unwrap();
    let mut refused = table.clone();
    assert_eq!(
        refused.fit(format, Range::Refuse).unwrap_err().to_string(),
        "line 5, column `b`: 4 lies outside fix:3.2, which reaches from -4 to 3.75; fix:4.2 holds the column"
    );
    let mut saturated = table;
    saturated.fit(format, Range::Saturate).unwrap();
    assert_eq!(saturated.features.data, [1.0, 2.0, -4.0, 3.75, 0.0, 3.75]);
    assert_eq!(saturated.labels.data, [3.0, -4.0, 1.0]);
    saturated.fit(format, Range::Refuse).unwrap();
}

#[test]
fn an_array_has_rows() {
    let mut table = Table::new(names(&["a"]), names(&["y"]), vec![1.0, 9.0], vec![0.0, 0.0]);
    assert_eq!(
        table.fit("fix:3.2".parse().unwrap(), Range::Refuse).unwrap_err().to_string(),
        "row 1, column `a`: 9 lies outside fix:3.2, which reaches from -4 to 3.75; fix:5.2 holds the column"
    );
}

#[test]
fn labels_out_of_range() {
    let mut table = read("a,y\n1,2\n1,-3\n", None).unwrap();
    assert_eq!(
        table.fit("fix:2.0:sm".parse().unwrap(), Range::Refuse).unwrap_err().to_string(),
        "line 2, column `y`: 2 lies outside fix:2.0:sm, which reaches from -1 to 1; fix:3.0:sm holds the column"
    );
}
