//! Snapshots as bytes: one bit for a symbol, eight bytes for any other weight.

use crate::{PackedCells, Snapshot, TapeSnapshot};

/// The bytes do not encode a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a snapshot of weights")]
pub struct NotASnapshot;

/// How a list of weights is encoded.
const SIGNS: u8 = 0;
const WEIGHTS: u8 = 1;

impl Snapshot {
    /// The snapshot as bytes, which are the same on every platform.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.path.to_le_bytes().to_vec();
        bytes.extend(self.weight_bytes());
        bytes
    }

    /// The step and the weights as bytes, without the path.
    pub fn weight_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, self.step);
        put(&mut bytes, self.vertices.len() as u64);
        for &(vertex, weight) in &self.vertices {
            put(&mut bytes, vertex as u64);
            put(&mut bytes, weight.to_bits());
        }
        put_cells(&mut bytes, &self.labels.clone().into());
        put(&mut bytes, self.tapes.len() as u64);
        for tape in &self.tapes {
            put(&mut bytes, tape.first as u64);
            put_cells(&mut bytes, &tape.cells);
            put(&mut bytes, tape.head_first as u64);
            put_cells(&mut bytes, &tape.head.clone().into());
        }
        bytes
    }

    /// The snapshot that bytes encode.
    ///
    /// # Errors
    /// If they do not encode exactly one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotASnapshot> {
        let mut reader = Reader(bytes);
        let path = reader.number()?;
        let step = reader.number()?;
        let n_vertices = reader.count(16)?;
        let mut vertices = Vec::with_capacity(n_vertices);
        for _ in 0..n_vertices {
            let vertex = usize::try_from(reader.number()?).map_err(|_| NotASnapshot)?;
            vertices.push((vertex, f64::from_bits(reader.number()?)));
        }
        let labels = reader.weights()?;
        let n_tapes = reader.count(1)?;
        let mut tapes = Vec::with_capacity(n_tapes);
        for _ in 0..n_tapes {
            let first = reader.number()? as i64;
            let cells = reader.cells()?;
            let head_first = reader.number()? as i64;
            let in_range = |cell: i64| cell.unsigned_abs() <= 1 << 40;
            // A blank tape stores no cells, so a head may be as far from the stored cells as a tape is long.
            let near = head_first.abs_diff(first) <= cells.len() as u64 + MAX_DISTANCE;
            if !in_range(first) || !in_range(head_first) || !near {
                return Err(NotASnapshot);
            }
            tapes.push(TapeSnapshot { first, cells, head_first, head: reader.weights()? });
        }
        if reader.0.is_empty() { Ok(Self { step, path, vertices, labels, tapes }) } else { Err(NotASnapshot) }
    }
}

/// The most cells of a tape.
const MAX_DISTANCE: u64 = 1 << 28;

fn put(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

/// Consecutive numbers: one bit each if all are -1 or 1, otherwise eight bytes each.
fn put_cells(bytes: &mut Vec<u8>, cells: &PackedCells) {
    put(bytes, cells.len() as u64);
    match cells.bytes() {
        Some(packed) => {
            bytes.push(SIGNS);
            bytes.extend(packed);
        }
        None => {
            bytes.push(WEIGHTS);
            cells.iter().for_each(|weight| put(bytes, weight.to_bits()));
        }
    }
}

/// Reads values from the bytes that are left.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, n: usize) -> Result<&'b [u8], NotASnapshot> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(NotASnapshot)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, NotASnapshot> {
        let bytes = self.take(8)?.try_into().map_err(|_| NotASnapshot)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The number of items that follow, each of at least `bytes` bytes.
    fn count(&mut self, bytes: usize) -> Result<usize, NotASnapshot> {
        let count = usize::try_from(self.number()?).map_err(|_| NotASnapshot)?;
        let fits = count.checked_mul(bytes).is_some_and(|all| all <= self.0.len());
        if fits { Ok(count) } else { Err(NotASnapshot) }
    }

    fn cells(&mut self) -> Result<PackedCells, NotASnapshot> {
        let count = usize::try_from(self.number()?).map_err(|_| NotASnapshot)?;
        match self.take(1)?[0] {
            SIGNS => Ok(PackedCells::of_bytes(self.take(count.div_ceil(8))?, count)),
            WEIGHTS => {
                let mut weights = Reader(self.take(count.checked_mul(8).ok_or(NotASnapshot)?)?);
                let numbers = (0..count).map(|_| weights.number().map(f64::from_bits));
                Ok(numbers.collect::<Result<Vec<f64>, _>>()?.into())
            }
            _ => Err(NotASnapshot),
        }
    }

    fn weights(&mut self) -> Result<Vec<f64>, NotASnapshot> {
        Ok(self.cells()?.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weights() -> impl Strategy<Value = Vec<f64>> {
        let signs = prop::collection::vec(prop::sample::select(vec![-1.0, 1.0]), 0..40);
        prop_oneof![signs, prop::collection::vec(-2.0..2.0, 0..10)]
    }

    fn snapshot() -> impl Strategy<Value = Snapshot> {
        let tape = (-100_i64..100, weights(), -100_i64..100, weights());
        let tape = tape.prop_map(|(first, cells, head_first, head)| TapeSnapshot {
            first,
            cells: cells.into(),
            head_first,
            head,
        });
        let vertices = prop::collection::vec((0_usize..99, -1.0..1.0), 0..3);
        (any::<u64>(), any::<u64>(), vertices, weights(), prop::collection::vec(tape, 0..4)).prop_map(
            |(step, path, vertices, labels, tapes)| Snapshot { step, path, vertices, labels, tapes },
        )
    }

    proptest! {
        #[test]
        fn bytes_stand_for_the_snapshot(snapshot in snapshot()) {
            prop_assert_eq!(Snapshot::from_bytes(&snapshot.to_bytes()), Ok(snapshot));
        }

        #[test]
        fn cut_or_lengthened_bytes_do_not(snapshot in snapshot(), cut in any::<prop::sample::Index>()) {
            let bytes = snapshot.to_bytes();
            prop_assert!(Snapshot::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
            let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
            prop_assert!(Snapshot::from_bytes(&longer).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Snapshot::from_bytes(&bytes);
        }
    }

    /// The distance of two cells is looked at only once both are known to be near enough to have one.
    #[test]
    fn cells_at_both_ends_of_all_numbers_are_refused() {
        let (cells, head) = (PackedCells::default(), vec![1.0]);
        let tape = TapeSnapshot { first: i64::MIN, cells, head_first: i64::MAX, head };
        let snapshot =
            Snapshot { step: 0, path: 0, vertices: Vec::new(), labels: Vec::new(), tapes: vec![tape] };
        assert_eq!(Snapshot::from_bytes(&snapshot.to_bytes()), Err(NotASnapshot));
    }

    /// A blank tape keeps no cells, and its head may have gone as far as a tape is long.
    #[test]
    fn a_head_may_be_far_from_the_cells_that_are_kept() {
        for (distance, fits) in [
            (1 << 16, true),
            (1 << 20, true),
            ((1 << 20) + 1, true),
            (1 << 24, true),
            (1 << 28, true),
            ((1 << 28) + 1, false),
        ] {
            for head_first in [distance, -distance] {
                let tape =
                    TapeSnapshot { first: 0, cells: PackedCells::default(), head_first, head: vec![1.0] };
                let tapes = vec![tape];
                let snapshot = Snapshot { step: 0, path: 0, vertices: Vec::new(), labels: Vec::new(), tapes };
                let read = Snapshot::from_bytes(&snapshot.to_bytes());
                assert_eq!(read, if fits { Ok(snapshot) } else { Err(NotASnapshot) }, "{head_first}");
            }
        }
    }

    #[test]
    fn a_sign_takes_a_bit() {
        let tape = TapeSnapshot { first: 0, cells: vec![-1.0; 8000].into(), head_first: 7, head: vec![1.0] };
        let snapshot =
            Snapshot { step: 1, path: 4, vertices: vec![(3, 1.0)], labels: Vec::new(), tapes: vec![tape] };
        assert!(snapshot.to_bytes().len() < 1000 + 100);
    }
}
