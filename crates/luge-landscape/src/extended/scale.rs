//! The scale of a landscape: every possible final loss must be below the stopping level.

use super::{DataLayout, ExtendedOptions};
use crate::{ConstantOptions, ConstantsError, ExternalConstants, LandscapeKind, Primary, power_of_two_from};

/// The user's constants, with a scale at which every possible final loss is below the stopping level.
pub(super) fn with_room(
    n_tapes: usize,
    primary: &dyn Primary,
    options: &ExtendedOptions,
) -> Result<ConstantOptions, ConstantsError> {
    let highest = highest_final_loss(primary, options);
    let mut constants = options.constants;
    match options.kind {
        LandscapeKind::Internal => {
            // The stopping level is 3/2 of the scale.
            let scale = scale_from(highest / 1.5);
            constants.scale = constants.scale.or(Some(scale));
        }
        LandscapeKind::Plain => {
            let drop = scale_from((4.0 * highest).max(4.0));
            constants.drop = constants.drop.or(Some(drop));
        }
        LandscapeKind::Compact | LandscapeKind::Relu => {
            let unit =
                ExternalConstants::choose(n_tapes, &ConstantOptions { scale: Some(1.0), ..constants })?;
            let stop = unit.offset - unit.halting_gap(n_tapes) / 2.0;
            constants.scale = constants.scale.or(Some(scale_from(highest / stop)));
        }
    }
    Ok(constants)
}

/// The smallest power of two from `value` on that is not below 2^-20.
fn scale_from(value: f64) -> f64 {
    power_of_two_from(value.max(1.0 / 1_048_576.0))
}

/// The bound on the final loss: the user's, or what follows from the format and the primary network.
pub(super) fn highest_final_loss(primary: &dyn Primary, options: &ExtendedOptions) -> f64 {
    options.final_loss.unwrap_or_else(|| final_loss(primary, &options.layout))
}

/// The largest possible 1/2 |f_theta(x) - y|^2 for numbers of the format.
pub fn final_loss(primary: &dyn Primary, layout: &DataLayout) -> f64 {
    let largest = layout.format.largest_magnitude();
    let residual = primary.largest_output(largest, largest) + largest;
    0.5 * (layout.n_samples * layout.n_labels) as f64 * residual * residual
}
