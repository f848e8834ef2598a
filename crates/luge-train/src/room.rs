//! The growth of rows of cells: by half of their size, long ones by an eighth.

/// The smallest number of cells that is added.
const LEAST: i64 = 16;

/// The number of cells that is added to rows of medium length.
const LONG: i64 = 1 << 16;

/// The number of cells to add at the front and at the back of a row that begins at `first`, so that it holds `low` to `high`.
pub(crate) fn room(first: i64, len: usize, low: i64, high: i64) -> (usize, usize) {
    let len = len as i64;
    let more = (len / 2).min(LONG).max(len / 8);
    let add = |missing: i64| if missing > 0 { missing.max(more).max(LEAST) as usize } else { 0 };
    (add(first - low), add(high + 1 - (first + len)))
}

/// Adds that many copies of `blank` before and after the cells.
pub(crate) fn widen<T: Clone>(cells: &mut Vec<T>, (before, after): (usize, usize), blank: T) {
    cells.splice(0..0, std::iter::repeat_n(blank.clone(), before));
    cells.resize(cells.len() + after, blank);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_where_they_end() {
        assert_eq!(room(0, 100, 10, 90), (0, 0));
        assert_eq!(room(0, 100, -1, 90), (50, 0));
        assert_eq!(room(0, 100, 0, 100), (0, 50));
        assert_eq!(room(5, 2, -100, 100), (105, 94));
        assert_eq!(room(0, 1 << 18, -1, 0), (1 << 16, 0));
        assert_eq!(room(0, 1 << 24, -1, 0), (1 << 21, 0));
        let mut cells = vec![7];
        widen(&mut cells, (2, 1), 0);
        assert_eq!(cells, [0, 0, 7, 0]);
    }
}
