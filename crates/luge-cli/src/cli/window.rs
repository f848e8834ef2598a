//! Prints a tape: the cells around the head, the head in brackets, and the number of other cells.

use luge::files::summary::separator;
use luge_machine::{Alphabet, Cell, TapeCells};

use super::output::count;

/// The most characters for the symbols, without the counts of omitted cells.
const WIDEST: usize = 64;

/// The cells around `head`; all cells that are not blank, if they fit.
pub(super) fn window(alphabet: &Alphabet, tape: &TapeCells, head: Cell) -> String {
    let (first, symbols) = tape.trimmed();
    let filled = if symbols.is_empty() { head..head + 1 } else { first..first + symbols.len() as Cell };
    let all = filled.start.min(head)..filled.end.max(head + 1);
    let separator = separator(alphabet);
    let widest_name = alphabet.names().iter().map(|name| name.chars().count()).max().unwrap_or(1);
    let n_shown = (WIDEST / (widest_name + separator.len())).max(1) as Cell;
    let start = (head - n_shown / 2).min(all.end - n_shown).max(all.start);
    let shown = start..(start + n_shown).min(all.end);
    let name = |cell: Cell| {
        let name = match alphabet.name(tape.read(cell)) {
            " " => "␣",
            name => name,
        };
        if cell == head { format!("[{name}]") } else { name.to_owned() }
    };
    let mut text = shown.clone().map(name).collect::<Vec<_>>().join(separator);
    if shown.start > all.start {
        text = format!("({} more) …{text}", count(shown.start - all.start));
    }
    if shown.end < all.end {
        text = format!("{text}… ({} more)", count(all.end - shown.end));
    }
    text
}

#[cfg(test)]
mod tests {
    use luge_machine::{SymbolId, TapeInput};

    use super::*;

    fn check(names: &[&str], symbols: &[u8], head: Cell, expected: &str) {
        let alphabet = Alphabet::new(names.iter().copied(), SymbolId(0));
        let symbols = symbols.iter().map(|&s| SymbolId(s)).collect();
        let tape = TapeCells::new(&TapeInput { symbols, head }, SymbolId(0));
        assert_eq!(window(&alphabet, &tape, head), expected);
    }

    #[test]
    fn short_tapes_are_shown_whole() {
        check(&["0", "1"], &[1, 1, 0, 1], 1, "1[1]01");
        check(&["0", "1"], &[1], -2, "[0]01");
        check(&["0", "1"], &[1], 3, "100[0]");
        check(&["0", "1"], &[], 7, "[0]");
        check(&[" ", "a"], &[1, 0, 1], 0, "[a]␣a");
        check(&["blank", "x"], &[1, 0, 1], 1, "x [blank] x");
    }

    #[test]
    fn long_tapes_are_cut_around_the_head() {
        let ones = |n: usize| "1".repeat(n);
        check(&["0", "1"], &[1; 100], 50, &format!("(18 more) …{}[1]{}… (18 more)", ones(32), ones(31)));
        check(&["0", "1"], &[1; 2000], 0, &format!("[1]{}… (1,936 more)", ones(63)));
        check(&["0", "1"], &[1; 100], 99, &format!("(36 more) …{}[1]", ones(63)));
    }
}
