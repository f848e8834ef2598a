//! The Frank-Wolfe step on a simplex.
//!
//! Departs from the paper: the update adds (y - x), printed with a minus; a tie stays where it is.

use luge_net::faults::planted;

/// The vertex with the smallest gradient entry if it is strictly better than the current point, else `None`: stay.
pub fn best_vertex(gradient: &[f64], point: &[f64]) -> Option<usize> {
    let here = weighted_mean(gradient, point);
    let mut best = None;
    let mut lowest = here;
    for (vertex, &slope) in gradient.iter().enumerate() {
        if slope < lowest || planted("ties move") && slope <= lowest {
            (best, lowest) = (Some(vertex), slope);
        }
    }
    best
}

/// `<gradient, point>` over the entries of the point that are not zero.
pub fn weighted_mean(gradient: &[f64], point: &[f64]) -> f64 {
    gradient
        .iter()
        .zip(point)
        .filter(|&(_, &weight)| weight != 0.0)
        .map(|(slope, weight)| slope * weight)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_to_the_steepest_vertex() {
        assert_eq!(best_vertex(&[0.0, -1.0, -3.0, -2.0], &[1.0, 0.0, 0.0, 0.0]), Some(2));
    }

    #[test]
    fn ties_stay() {
        assert_eq!(best_vertex(&[0.0; 3], &[0.0, 1.0, 0.0]), None);
        assert_eq!(best_vertex(&[-1.0, -1.0, 0.0], &[0.0, 1.0, 0.0]), None);
    }

    #[test]
    fn first_of_equal_vertices() {
        assert_eq!(best_vertex(&[0.0, -1.0, -1.0], &[1.0, 0.0, 0.0]), Some(1));
    }

    #[test]
    fn infinite_slopes_elsewhere_do_not_spoil_the_comparison() {
        assert_eq!(best_vertex(&[f64::INFINITY, 0.0, f64::NAN], &[0.0, 1.0, 0.0]), None);
    }
}
