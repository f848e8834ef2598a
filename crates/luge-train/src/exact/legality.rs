//! Where steps may be stored: constants are powers of two, and the gain is exactly 1, or close to 1 where the next
//! step removes the difference.

use std::collections::BTreeSet;

use luge_net::{Form, SparseLayers, faults};

use crate::{
    TrainError,
    sparse::{Probed, Sparse},
};

/// How far the gain may lie from 1 in a landscape of targets. A step leaves errors of at most |eta| (1 + 1) / (1 - |eta|) on
/// cells and half that on heads and vertices; at 1/8 these are 2/7 and 1/7, inside the margins 1/2 and 1/4 of the saturated copies.
pub const MAX_GAIN_ERROR: f64 = 0.125;

/// The network's step at a vertex whose heads are on the symbols `here` and will find `ahead`, from its gradient, if it can be
/// remembered.
pub(super) fn differentiate(
    probe: &mut Sparse<'_>,
    vertex: usize,
    here: u32,
    ahead: u32,
) -> Result<Probed, TrainError> {
    let mut probed = probe.probe(vertex, here, ahead)?;
    if faults::planted("another vertex remembered") {
        probed.to = vertex;
    }
    let running = match probe.output_stage() {
        Some(stage) => !stage.finished(probed.landscape)?,
        None => true,
    };
    let allowed = match probe.layers().form {
        Form::Slides { .. } => 0.0,
        Form::Targets { .. } => MAX_GAIN_ERROR,
    };
    if running && (probed.gain - 1.0).abs() > allowed {
        return Err(inexact_gain(probed.landscape, probed.gain));
    }
    Ok(probed)
}

fn inexact_gain(landscape: f64, gain: f64) -> TrainError {
    let why = format!(
        "at a landscape loss of {landscape} the carrier scales the gradient by 1 {} {:e}",
        if gain < 1.0 { '-' } else { '+' },
        (gain - 1.0).abs()
    );
    TrainError::NotExact { why }
}

/// Slides are exact only with powers of two.
pub(super) fn check_constants(form: &Form) -> Result<(), TrainError> {
    let Form::Slides { at_rest, edge, symbol, write, read, shift, cell_rate, head_rate, unrounded, .. } =
        *form
    else {
        return Ok(());
    };
    if !unrounded {
        let why = "the weights of edges are rounded".to_owned();
        return Err(TrainError::NotExact { why });
    }
    let named = [
        ("the level of rest", at_rest),
        ("the weight of an edge", edge),
        ("the weight of a symbol", symbol),
        ("the weight of writing", write),
        ("the weight of reading", read),
        ("the weight of moving", shift),
        ("the rate of cells", cell_rate),
        ("the rate of heads", head_rate),
    ];
    let any = faults::planted("constants not looked at");
    match named.iter().find(|(_, weight)| !is_power_of_two(weight.abs()) && !any) {
        Some((name, weight)) => {
            Err(TrainError::NotExact { why: format!("{name} is {weight}, not a power of two") })
        }
        None => Ok(()),
    }
}

/// Remembered steps are told from those at rest by the level of the landscape, so the switch must open upwards.
pub(super) fn check_switch(layers: &SparseLayers) -> Result<(), TrainError> {
    match layers.output {
        Some(output) if output.running.slope <= 0.0 => {
            let why = format!("the switch opens by {} with the landscape's loss", output.running.slope);
            Err(TrainError::NotExact { why })
        }
        _ => Ok(()),
    }
}

/// Whether every step is free of rounding.
pub(crate) fn is_exact(engine: &Sparse<'_>) -> bool {
    check_constants(&engine.layers().form).is_ok() && matches!(check_gain(engine), Ok(0.0))
}

fn is_power_of_two(value: f64) -> bool {
    const MANTISSA: u64 = (1 << 52) - 1;
    value.is_normal() && value.to_bits() & MANTISSA == 0
}

/// Tries the carrier's gain on every loss that a running landscape can have; returns how far it lies from 1 at most.
pub(super) fn check_gain(probe: &Sparse<'_>) -> Result<f64, TrainError> {
    let (Some(stage), layers) = (probe.output_stage(), probe.layers()) else { return Ok(0.0) };
    let mut most = 0.0_f64;
    let n = layers.table.n_tracks;
    let (offset, write, flip, unseen, moved, allowed) = match layers.form {
        Form::Slides { offset, write, read, shift, .. } => {
            (offset, 4.0 * write, 4.0 * read, read, 2.0 * shift, 0.0)
        }
        // One step to another vertex, in the place of flips.
        Form::Targets { offset, .. } => (offset, 2.0, 1.0, 0.0, 1.0, MAX_GAIN_ERROR),
    };
    let most_flips = match layers.form {
        Form::Targets { .. } => 1,
        Form::Slides { .. } if faults::planted("gain where all symbols flip") => n - 1,
        Form::Slides { .. } => n,
    };
    let blocks = 0..layers.table.n_blocks();
    let seen: BTreeSet<usize> = blocks.map(|b| layers.table.looks_at(b).count_ones() as usize).collect();
    for (seen, writes, moves) in seen
        .into_iter()
        .flat_map(|seen| (0..=n).flat_map(move |writes| (0..=n).map(move |moves| (seen, writes, moves))))
    {
        for flips in 0..=most_flips.min(seen.max(1)) {
            let residuals = flip * flips as f64 + unseen * (n - seen) as f64;
            let landscape = offset + write * writes as f64 + residuals + moved * moves as f64;
            let gain = stage.carry(landscape).gain;
            if (gain - 1.0).abs() > allowed || gain.is_nan() {
                return Err(inexact_gain(landscape, gain));
            }
            most = most.max((gain - 1.0).abs());
        }
    }
    Ok(most)
}
