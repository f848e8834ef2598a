//! The learners that ship: programs, with the data each one's story is about.

/// A program that ships with Luge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shipped {
    /// Its name, and that of its file in `learners`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The program.
    pub text: &'static str,
    /// The file of its data.
    pub data: &'static str,
    /// The data.
    pub csv: &'static str,
    /// The labels' columns.
    pub targets: &'static [&'static str],
    /// The number format it is meant for.
    pub format: &'static str,
    /// The network its weights are for.
    pub primary: &'static str,
}

macro_rules! shipped {
    ($name:literal, $data:literal, $targets:expr, $format:literal, $primary:literal, $summary:literal) => {
        Shipped {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../learners/", $name, ".sled")),
            data: $data,
            csv: include_str!(concat!("../", $data)),
            targets: &$targets,
            format: $format,
            primary: $primary,
        }
    };
}

/// All of them, the simplest first.
pub const SHIPPED: [Shipped; 6] = [
    shipped!(
        "perceptron",
        "learners/iris_setosa.csv",
        ["setosa"],
        "fix:8.4",
        "linear",
        "Rosenblatt's perceptron: corrects a plane until it separates two classes"
    ),
    shipped!(
        "least_squares_line",
        "data/anscombe_i.csv",
        ["y"],
        "fix:8.8",
        "linear",
        "the line of least squares through points, in closed form"
    ),
    shipped!(
        "sgd_linear",
        "learners/sgd_linear.csv",
        ["y"],
        "fix:4.8",
        "linear",
        "stochastic gradient descent for a linear model"
    ),
    shipped!(
        "nearest_centroid",
        "learners/iris_species.csv",
        ["setosa", "versicolor", "virginica"],
        "fix:8.6",
        "linear",
        "represents each class by the mean of its samples"
    ),
    shipped!(
        "xor_search",
        "learners/xor.csv",
        ["y"],
        "fix:6.0",
        "mlp:2-2-1",
        "tries all small weights of a network with a hidden layer: the global optimum"
    ),
    shipped!(
        "mlp_backprop",
        "learners/xor.csv",
        ["y"],
        "fix:4.8",
        "mlp:2-2-1",
        "backpropagation in a network with a hidden layer"
    ),
];

/// The learner with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}
