//! Carriers: from the scalar l_TM to an output of the labels' shape whose squared error is l_TM again.
//!
//! Paper: §5.3 and Appendix C.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

/// How l_TM is carried to the output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Carrier {
    /// `[z] + sqrt(2 l) e_1`: ours. No division, works for a single label, and the loss is l_TM itself.
    #[default]
    Offset,
    /// `sqrt(2 l) f_perp([z])`: the paper's. Needs two labels; the loss is l_TM + |y|^2 / 2.
    Orthogonal,
}

luge_net::names!(Carrier, "carrier", Offset "offset", Orthogonal "orthogonal");

impl Carrier {
    /// The loss that the carrier adds to l_TM for these labels.
    pub fn added_loss(self, labels: &Values) -> f64 {
        match self {
            Self::Offset => 0.0,
            Self::Orthogonal => labels.data.iter().map(|y| y * y).sum::<f64>() / 2.0,
        }
    }
}

/// Carries `loss`. The labels are under stop-gradient already, except in the printed version.
pub(crate) fn carry(
    g: &mut GraphBuilder,
    carrier: Carrier,
    loss: NodeId,
    labels: NodeId,
    guarded: bool,
) -> NodeId {
    let twice = g.affine("2 l", 2.0, loss, 0.0);
    let root = g.sqrt("root", twice);
    match carrier {
        Carrier::Offset => {
            let axis = axis(g, labels, 0);
            let along = g.product("carrier", root, axis);
            g.sum("carrier", [(1.0, labels), (1.0, along)])
        }
        Carrier::Orthogonal => {
            let direction = perpendicular(g, labels, guarded);
            g.product("carrier", root, direction)
        }
    }
}

/// The unit matrix of the labels' shape with its 1 at the given position.
pub(crate) fn axis(g: &mut GraphBuilder, labels: NodeId, position: usize) -> NodeId {
    let shape: Shape = g.shape(labels);
    let mut values = Values::filled(shape, 0.0);
    values.data[position] = 1.0;
    g.constant("axis", values)
}

/// f_perp(z): a unit vector orthogonal to z, by projection from e_1, or from e_2 where z is too close to e_1.
///
/// Departs from the paper: denominators are guarded, so that f_perp(0) is a unit vector and not 0/0.
fn perpendicular(g: &mut GraphBuilder, z: NodeId, guarded: bool) -> NodeId {
    let (v, w) = (axis(g, z, 0), axis(g, z, 1));
    let one = g.scalar("one", 1.0);
    let norm = g.sum_of_squares("label norm", z);
    let along = |g: &mut GraphBuilder, axis: NodeId| {
        let product = g.product("label on axis", z, axis);
        g.sum_all("label on axis", product)
    };
    let (on_v, on_w) = (along(g, v), along(g, w));
    // e_1, unless it has more than half of |z|^2; then e_2, which has less.
    let on_v_squared = g.square("axis choice", on_v);
    let room = g.sum("axis choice", [(0.5, norm), (-1.0, on_v_squared)]);
    let chosen = g.select("axis choice", room, v, w);
    let on_chosen = g.select("axis choice", room, on_v, on_w);
    let safe_norm = if guarded { g.select("guarded norm", norm, norm, one) } else { norm };
    let share = g.quotient("projection", on_chosen, safe_norm);
    let parallel = g.product("projection", share, z);
    let projected = g.sum("projection", [(1.0, chosen), (-1.0, parallel)]);
    let length = g.sum_of_squares("projection norm", projected);
    let length = g.sqrt("projection norm", length);
    g.quotient("f_perp", projected, length)
}
