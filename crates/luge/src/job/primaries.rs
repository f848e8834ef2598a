//! Finds primary networks by their descriptions, including those that programs define.

use std::sync::Arc;

use luge_landscape::{Mlp, Parity, Primary, PrimaryError, Prototypes, Tree, Units};

use luge_sled::Program;

use super::{
    JobError, TrainJob, is_circuit,
    program::{self, SizedSource},
    source::Source,
};
use crate::data::Table;

/// The primary network that computes the function `predict` of the program.
pub(super) const PREDICT: &str = "predict";

/// The primary network that outputs theta itself, of any size.
pub(super) const RAW: &str = "raw";

/// Finds primary networks by their descriptions. Users of the library implement it for networks of their own.
pub trait Primaries {
    /// Returns the network of a description, for data of these sizes.
    ///
    /// # Errors
    /// If there is none.
    fn find(
        &self,
        description: &str,
        n_features: usize,
        n_labels: usize,
    ) -> Result<Arc<dyn Primary>, PrimaryError>;
}

/// The networks that ship: `linear`, `mlp:` with its widths, `prototypes:` and `tree:` with a number, `parity`, `raw:` with the size
/// of theta, and `units:` with a list of units, to which the function `predict` of a program is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardPrimaries;

impl Primaries for StandardPrimaries {
    fn find(&self, text: &str, n_features: usize, n_labels: usize) -> Result<Arc<dyn Primary>, PrimaryError> {
        if text == "parity" {
            return match n_labels {
                1 => Ok(Arc::new(Parity::new(n_features))),
                labels => Err(PrimaryError::Ends {
                    whole: text.to_owned(),
                    n_features,
                    n_outputs: 1,
                    features: n_features,
                    labels,
                }),
            };
        }
        if let Some(units) = Units::parse(text, n_features, n_labels) {
            return Ok(Arc::new(units?));
        }
        if let Some(prototypes) = Prototypes::parse(text, n_features, n_labels) {
            return Ok(Arc::new(prototypes?));
        }
        if let Some(tree) = Tree::parse(text, n_features, n_labels) {
            return Ok(Arc::new(tree?));
        }
        Ok(Arc::new(Mlp::parse(text, n_features, n_labels)?))
    }
}

/// Suggests a network with this many weights.
fn fitting(n_theta: usize, n_features: usize, n_labels: usize) -> String {
    let hidden = (1..=64).map(|n| format!("mlp:{n_features}-{n}-{n_labels}"));
    let counted = (1..=64).map(|n| format!("prototypes:{n}")).chain((1..=6).map(|n| format!("tree:{n}")));
    let all = ["linear".to_owned(), "parity".to_owned()].into_iter().chain(hidden).chain(counted);
    let fits = |text: &String| {
        StandardPrimaries.find(text, n_features, n_labels).is_ok_and(|found| found.n_weights() == n_theta)
    };
    all.into_iter().find(fits).unwrap_or_else(|| RAW.to_owned())
}

impl SizedSource {
    /// Returns the full description of a primary network, in which `predict` and `raw` are replaced by what the program defines.
    pub(crate) fn described_primary(&self, primary: &str) -> Result<String, JobError> {
        if !matches!(primary, PREDICT | RAW) || !program::is_program(&self.source) {
            return Ok(primary.to_owned());
        }
        if primary == PREDICT && !luge_sled::has_predict(&self.source.text) {
            return Err(JobError::NoPredict(self.source.name.clone()));
        }
        self.with(|text, sizes, settings| match primary {
            RAW => Ok(format!("{RAW}:{}", Program::new(text, sizes, settings)?.n_theta())),
            _ => luge_sled::predict_network(text, sizes, settings),
        })
    }

    /// Returns the primary network of a description.
    pub(crate) fn primary(
        &self,
        primary: &str,
        primaries: &dyn Primaries,
    ) -> Result<Arc<dyn Primary>, JobError> {
        let (n_features, n_labels) = self.sizes;
        Ok(primaries.find(&self.described_primary(primary)?, n_features, n_labels)?)
    }

    /// Checks that the program's theta has one number per weight of the primary network.
    pub(crate) fn check_theta(&self, n_theta: usize, primary: &dyn Primary) -> Result<(), JobError> {
        let n_weights = primary.n_weights();
        if n_theta == n_weights {
            return Ok(());
        }
        let fits = fitting(n_theta, self.sizes.0, self.sizes.1);
        Err(JobError::ThetaSize { n_theta, primary: primary.describe(), n_weights, fits })
    }
}

impl TrainJob {
    /// Returns the default primary network: the program's function `predict`, theta itself if there are no labels, otherwise a linear
    /// model. A circuit has an output instead.
    pub(crate) fn usual_primary(source: &Source) -> &'static str {
        if is_circuit(source) {
            "output"
        } else if !program::is_program(source) {
            "linear"
        } else if luge_sled::has_predict(&source.text) {
            PREDICT
        } else if luge_sled::has_no_labels(&source.text) {
            RAW
        } else {
            "linear"
        }
    }

    /// Adds constant labels to the table, one for each output of the primary network, if the learner takes no labels.
    pub(super) fn with_labels(&self, table: Table) -> Result<Table, JobError> {
        if !table.label_names.is_empty() {
            return Ok(table);
        }
        if !program::is_program(&self.source) || !luge_sled::has_no_labels(&self.source.text) {
            return Err(JobError::NoTarget(self.source.name.clone()));
        }
        let described = self.sized((table.feature_names.len(), 1)).described_primary(&self.primary)?;
        let n_outputs = match described.strip_prefix("raw:") {
            Some(n_theta) => n_theta.parse().unwrap_or(1),
            None => described.matches(";= ").count().max(1),
        };
        Ok(table.without_labels(n_outputs))
    }
}
