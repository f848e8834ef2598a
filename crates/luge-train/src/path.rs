//! A digest of all vertices that a run has visited, in order.
//!
//! The digest of v_0, …, v_k is `sum_i (v_i + 1) M^(k - i)` modulo 2^64, with the odd number M = [`MULTIPLIER`]: it begins
//! as v_0 + 1, and a step to v multiplies it by M and adds v + 1. So if a stored piece is appended to a path, the digest is
//! multiplied by M to the power of the piece's length, and the piece's own digest is added.

/// The factor of a digest before the next vertex is added.
pub const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The digest of a path extended by a vertex; the empty path has digest 0.
#[inline]
pub fn visit(path: u64, vertex: usize) -> u64 {
    path.wrapping_mul(MULTIPLIER).wrapping_add(vertex as u64 + 1)
}

/// The multiplier's powers, for pieces of paths.
const POWERS: [u64; 256] = {
    let mut powers = [1; 256];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = MULTIPLIER.wrapping_mul(powers[n - 1]);
        n += 1;
    }
    powers
};

/// The digest of a path extended by a piece of `n` vertices with a digest of its own.
#[inline]
pub fn visit_piece(path: u64, n: u64, digest: u64) -> u64 {
    let power = match POWERS.get(n as usize) {
        Some(&power) => power,
        None => power_of(n),
    };
    path.wrapping_mul(power).wrapping_add(digest)
}

#[cold]
fn power_of(n: u64) -> u64 {
    let last = POWERS.len() - 1;
    (0..n / last as u64).fold(POWERS[(n % last as u64) as usize], |power, _| power.wrapping_mul(POWERS[last]))
}

/// The multiplier's inverse modulo 2^64: each round of Newton's method doubles the bits that are right.
const INVERSE: u64 = {
    let mut inverse = MULTIPLIER;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
};

/// The digest of a path without its last vertex.
pub(crate) fn unvisit(path: u64, vertex: usize) -> u64 {
    path.wrapping_sub(vertex as u64 + 1).wrapping_mul(INVERSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(vertices: &[usize]) -> u64 {
        vertices.iter().fold(0, |path, &vertex| visit(path, vertex))
    }

    #[test]
    fn is_the_polynomial_that_is_documented() {
        assert_eq!(digest(&[]), 0);
        assert_eq!(digest(&[4]), 5);
        let square = MULTIPLIER.wrapping_mul(MULTIPLIER);
        let by_hand = square.wrapping_mul(5).wrapping_add(MULTIPLIER.wrapping_mul(1)).wrapping_add(8);
        assert_eq!(digest(&[4, 0, 7]), by_hand);
    }

    #[test]
    fn pieces_compose() {
        let path = [3, 0, 0, 9, 1, 65_535, 2];
        for cut in 0..=path.len() {
            let (head, tail) = path.split_at(cut);
            assert_eq!(visit_piece(digest(head), tail.len() as u64, digest(tail)), digest(&path));
        }
        // Long ones, too.
        let long: Vec<usize> = (0..1_000).collect();
        for cut in [254, 255, 256, 490, 999] {
            let (tail, head) = long.split_at(cut);
            let whole = [head, tail].concat();
            assert_eq!(visit_piece(digest(head), tail.len() as u64, digest(tail)), digest(&whole));
        }
    }

    #[test]
    fn the_last_vertex_can_be_taken_back() {
        for path in [&[3][..], &[3, 0, 9], &[7, usize::MAX - 1]] {
            let (&last, before) = path.split_last().expect("a vertex");
            assert_eq!(unvisit(digest(path), last), digest(before));
        }
    }

    #[test]
    fn order_length_and_every_vertex_count() {
        assert_ne!(digest(&[1, 2]), digest(&[2, 1]));
        assert_ne!(digest(&[0, 1]), digest(&[1]));
        assert_ne!(digest(&[1, 0]), digest(&[1]));
        assert_ne!(digest(&[1, 5, 2]), digest(&[1, 6, 2]));
    }
}
