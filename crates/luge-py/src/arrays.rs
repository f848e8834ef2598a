//! Arrays from and to Python. Outgoing arrays are not copied; incoming ones are copied once, into the job.

use luge::data::{Missing, PrepareOptions, Table};
use luge_net::{Shape, Values};
use numpy::{
    PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods,
    ndarray::{Array1, Array2},
};
use pyo3::prelude::*;

use crate::refusal::Refusal;

/// The numbers of an array, row by row.
pub(crate) fn values(array: &PyReadonlyArray2<'_, f64>) -> Values {
    let &[rows, cols] = array.shape() else { unreachable!("an array of two dimensions") };
    // The slice of an array in Fortran order would have the columns first.
    let data = match array.as_slice() {
        Ok(slice) if array.is_c_contiguous() => slice.to_vec(),
        _ => array.as_array().iter().copied().collect(),
    };
    Values::new(Shape::new(rows, cols), data)
}

/// A table of features and labels; its columns are not prepared yet.
pub(crate) fn table(
    x: &PyReadonlyArray2<'_, f64>,
    y: &PyReadonlyArray2<'_, f64>,
    features: Vec<String>,
    labels: Vec<String>,
    asked: &PrepareOptions,
) -> Result<Table, Refusal> {
    let (x, y) = (values(x), values(y));
    if x.shape.rows != y.shape.rows {
        let (rows, labelled) = (x.shape.rows, y.shape.rows);
        return Err(Refusal::new(format!("x has {rows} rows, y has {labelled}")));
    }
    if (x.shape.cols, y.shape.cols) != (features.len(), labels.len()) {
        return Err(Refusal::new(format!(
            "x and y have {} and {} columns, but {} and {} names",
            x.shape.cols,
            y.shape.cols,
            features.len(),
            labels.len()
        )));
    }
    if x.shape.is_empty() {
        return Err(Refusal::new(format!(
            "x has {} rows and {} columns: nothing to learn from",
            x.shape.rows, x.shape.cols
        )));
    }
    let missing = asked.missing != Missing::Refuse;
    let wrong = |number: &&f64| !(number.is_finite() || missing && number.is_nan());
    if let Some(number) = x.data.iter().chain(&y.data).find(wrong) {
        return Err(Refusal::new(format!("{number} is not a finite number")));
    }
    Ok(Table::new(features, labels, x.data, y.data))
}

/// Numbers as an array of two dimensions.
pub(crate) fn matrix(py: Python<'_>, values: Values) -> Bound<'_, PyArray2<f64>> {
    let Values { shape, data } = values;
    rows(py, shape.rows, shape.cols, data)
}

/// Entries row by row as an array of two dimensions.
pub(crate) fn rows<T: numpy::Element>(
    py: Python<'_>,
    n_rows: usize,
    n_columns: usize,
    data: Vec<T>,
) -> Bound<'_, PyArray2<T>> {
    match Array2::from_shape_vec((n_rows, n_columns), data) {
        Ok(array) => PyArray2::from_owned_array(py, array),
        Err(error) => unreachable!("as many entries as rows times columns: {error}"),
    }
}

/// Entries as an array of one dimension.
pub(crate) fn vector<T: numpy::Element>(py: Python<'_>, data: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_owned_array(py, Array1::from_vec(data))
}
