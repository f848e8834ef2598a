//! The weights on vertices, nearly all of which is on one vertex.

use luge_net::Form;

use super::tape::saturate_01;

/// Weights on vertices.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place {
    /// The vertex with (nearly) all the weight.
    pub(super) vertex: usize,
    pub(super) weight: f64,
    /// Small weights that drift left on other vertices; none on a simplex.
    pub(super) others: Vec<(usize, f64)>,
}

impl Place {
    /// Whether the saturated copy is 1 on this vertex and 0 on all others.
    #[inline]
    pub(super) fn clear(&self) -> bool {
        self.is_exact()
            || saturate_01(self.weight).total_cmp(&1.0).is_eq()
                && self.others.iter().all(|&(_, weight)| saturate_01(weight).total_cmp(&0.0).is_eq())
    }

    /// Whether all the weight is on one vertex, exactly.
    #[inline]
    fn is_exact(&self) -> bool {
        self.others.is_empty() && self.weight.to_bits() == 1.0_f64.to_bits()
    }

    /// |x - e_to|^2.
    #[inline]
    pub(super) fn distance(&self, to: usize) -> f64 {
        if self.is_exact() {
            return if self.vertex == to { 0.0 } else { 2.0 };
        }
        let square = |vertex: usize, weight: f64| {
            let r = if vertex == to { weight - 1.0 } else { weight };
            r * r
        };
        let known = self.vertex == to || self.others.iter().any(|&(v, _)| v == to);
        let missing = if known { 0.0 } else { 1.0 };
        self.others.iter().fold(square(self.vertex, self.weight) + missing, |sum, &(v, w)| sum + square(v, w))
    }

    /// x <- x - gain (x - e_to).
    #[inline]
    pub(super) fn step(&mut self, to: usize, gain: f64) {
        if gain.to_bits() == 1.0_f64.to_bits() && self.is_exact() {
            self.vertex = to;
            return;
        }
        if self.vertex != to {
            self.others.push((self.vertex, self.weight));
            let at = self.others.iter().position(|&(v, _)| v == to);
            let weight = at.map_or(0.0, |at| self.others.remove(at).1);
            (self.vertex, self.weight) = (to, weight);
        }
        self.weight -= gain * (self.weight - 1.0);
        self.others.iter_mut().for_each(|(_, weight)| *weight -= gain * *weight);
        self.others.retain(|&(_, weight)| weight != 0.0);
    }
}

/// The weights on vertices; `None` if no vertex clearly has all the weight.
pub(super) fn placed(mut weights: Vec<(usize, f64)>, form: &Form) -> Option<Place> {
    let heaviest = (0..weights.len()).reduce(|a, b| if weights[b].1 > weights[a].1 { b } else { a })?;
    let (vertex, weight) = weights.remove(heaviest);
    let place = Place { vertex, weight, others: weights };
    let on_simplex = matches!(form, Form::Slides { .. });
    let exact = place.others.is_empty() && weight.total_cmp(&1.0).is_eq();
    (if on_simplex { exact } else { place.clear() }).then_some(place)
}
