//! Space-time diagrams: one row for each shown step, time downwards, one panel for each tape.
//!
//! A picture has a fixed size, and no memory here grows with the number of steps.

use std::{io::Write, ops::Range};

use luge_machine::{Alphabet, Cell, Input, Simulator, Step, SymbolId, TapeId};

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// Width and height in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 1024, height: 1024 }
    }
}

/// The background.
pub const MARGIN: Rgb = [44, 48, 58];
/// The head's mark.
pub const HEAD: Rgb = [232, 30, 44];
/// The blank symbol; the others take [`INKS`] in order.
pub const BLANK: Rgb = [0, 0, 0];
/// The colours of the other symbols; later symbols reuse them in darker shades.
pub const INKS: [Rgb; 8] = [
    [255, 255, 255],
    [70, 140, 245],
    [255, 200, 0],
    [0, 175, 115],
    [200, 95, 225],
    [255, 145, 70],
    [120, 220, 230],
    [155, 115, 75],
];

/// The widest strip between two panels.
const WIDEST_GAP: usize = 16;
/// The most cells that a pixel averages: tapes can be far longer than a picture is wide.
const MAX_SAMPLES: u64 = 256;

/// A finished picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    size: Size,
    pixels: Vec<Rgb>,
}

/// Where one tape is drawn.
struct Panel {
    tape: TapeId,
    cells: Range<Cell>,
    left: usize,
    n_columns: usize,
    /// Pixels per column.
    zoom: usize,
    colours: Vec<Rgb>,
}

impl Picture {
    /// Draws the run that led to `finished`, by simulating it again.
    ///
    /// `advance` runs a simulator to the given step, and can show progress.
    ///
    /// # Panics
    /// If there is not a pixel for each tape.
    pub fn of_run(
        size: Size,
        input: &Input,
        finished: &Simulator<'_>,
        mut advance: impl FnMut(&mut Simulator<'_>, Step),
    ) -> Self {
        assert!(size.width >= finished.machine().n_tapes() && size.height > 0, "{size:?} is too small");
        let mut picture = Self { size, pixels: vec![MARGIN; size.width * size.height] };
        let panels = panels(size, input, finished);
        let steps = finished.steps();
        let n_rows = (steps as u128 + 1).min(size.height as u128) as usize;
        let zoom = size.height / n_rows;
        let top = (size.height - n_rows * zoom) / 2;
        let mut simulator = Simulator::new(finished.machine(), input);
        for row in 0..n_rows {
            advance(&mut simulator, moment(row, n_rows, steps));
            let lines = top + row * zoom..top + (row + 1) * zoom;
            for panel in &panels {
                picture.draw_row(panel, lines.clone(), &simulator);
            }
        }
        picture
    }

    /// The picture's size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// One pixel, counted from the top left corner.
    ///
    /// # Panics
    /// If there is no such pixel.
    pub fn pixel(&self, x: usize, y: usize) -> Rgb {
        assert!(x < self.size.width && y < self.size.height, "({x}, {y}) is outside of {:?}", self.size);
        self.pixels[y * self.size.width + x]
    }

    /// Writes the picture as a PNG file.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_png(&self, out: impl Write) -> Result<(), png::EncodingError> {
        write_png(out, self.size, &self.pixels)
    }

    fn draw_row(&mut self, panel: &Panel, lines: Range<usize>, simulator: &Simulator<'_>) {
        for column in 0..panel.n_columns {
            self.fill(panel.columns(column), lines.clone(), panel.colour(column, simulator));
        }
        let head = panel.columns(panel.column_of(simulator.head(panel.tape)));
        self.fill(inner(head), inner(lines), HEAD);
    }

    fn fill(&mut self, columns: Range<usize>, lines: Range<usize>, colour: Rgb) {
        for line in lines {
            let start = line * self.size.width;
            self.pixels[start + columns.start..start + columns.end].fill(colour);
        }
    }
}

/// Writes pixels, line by line, as a PNG file.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_png(out: impl Write, size: Size, pixels: &[Rgb]) -> Result<(), png::EncodingError> {
    let side = |n: usize| u32::try_from(n.max(1)).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(out, side(size.width), side(size.height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels.as_flattened())?;
    writer.finish()
}

/// Returns the step that a row shows. If there are more steps than rows, they are evenly spaced, from the first to the last.
fn moment(row: usize, n_rows: usize, steps: Step) -> Step {
    if n_rows == 1 {
        return 0;
    }
    let step = row as u128 * u128::from(steps) / (n_rows as u128 - 1);
    Step::try_from(step).unwrap_or(steps)
}

/// Returns the part of an enlarged cell that a head's mark covers, so that the symbol remains visible.
fn inner(pixels: Range<usize>) -> Range<usize> {
    let rim = pixels.len() / 4;
    pixels.start + rim..pixels.end - rim
}

fn panels(size: Size, input: &Input, finished: &Simulator<'_>) -> Vec<Panel> {
    let n_tapes = finished.machine().n_tapes();
    let gap = WIDEST_GAP.min(size.width / (4 * n_tapes));
    let room = ((size.width + gap) / n_tapes).saturating_sub(gap).max(1);
    let panel = |tape: TapeId| {
        let (low, high) = finished.visited(tape);
        let n_given = input.tapes.get(tape.index()).map_or(0, |t| t.symbols.len());
        let cells = if n_given == 0 { low..high + 1 } else { low.min(0)..high.max(n_given as Cell - 1) + 1 };
        let n_columns = usize::try_from(cells.end - cells.start).unwrap_or(usize::MAX).min(room);
        let zoom = room / n_columns;
        let left = tape.index() * (room + gap) + (room - n_columns * zoom) / 2;
        let colours = colours(&finished.machine().tape(tape).alphabet);
        Panel { tape, cells, left, n_columns, zoom, colours }
    };
    finished.machine().tape_ids().map(panel).collect()
}

/// The colours of an alphabet's symbols.
pub fn colours(alphabet: &Alphabet) -> Vec<Rgb> {
    let mut n_inked = 0;
    let colour = |symbol: SymbolId| {
        if symbol == alphabet.blank() {
            return BLANK;
        }
        let (round, ink) = (n_inked / INKS.len(), INKS[n_inked % INKS.len()]);
        n_inked += 1;
        (0..round).fold(ink, |ink, _| ink.map(|part| part / 4 * 3))
    };
    alphabet.symbols().map(colour).collect()
}

impl Panel {
    /// The pixels a column covers.
    fn columns(&self, column: usize) -> Range<usize> {
        let left = self.left + column * self.zoom;
        left..left + self.zoom
    }

    /// The cells of a column: one, or several if the tape is longer than the panel is wide.
    fn cells(&self, column: usize) -> Range<Cell> {
        let n_cells = (self.cells.end - self.cells.start) as i128;
        let cell = |column: usize| {
            let offset = column as i128 * n_cells / self.n_columns as i128;
            self.cells.start + offset as Cell
        };
        cell(column)..cell(column + 1)
    }

    fn column_of(&self, cell: Cell) -> usize {
        let n_cells = (self.cells.end - self.cells.start) as i128;
        let offset = (cell - self.cells.start) as i128;
        // The largest column whose first cell is not to the right of `cell`.
        (((offset + 1) * self.n_columns as i128 - 1) / n_cells) as usize
    }

    /// The mean colour of a column's cells, or of an evenly spaced sample if there are very many.
    fn colour(&self, column: usize, simulator: &Simulator<'_>) -> Rgb {
        let tape = simulator.tape(self.tape);
        let cells = self.cells(column);
        let colour = |cell: Cell| self.colours[tape.read(cell).index()];
        let n_cells = (cells.end - cells.start).unsigned_abs();
        if n_cells == 1 {
            return colour(cells.start);
        }
        if n_cells <= MAX_SAMPLES {
            return mean(cells.map(colour));
        }
        // One cell of each of equal shares, not always the same one: else a pattern in step with the shares
        // would look like a plain colour.
        mean((0..MAX_SAMPLES).map(|share| {
            let within = share.wrapping_mul(0x9e37_79b9) % n_cells;
            let offset = (u128::from(share) * u128::from(n_cells) + u128::from(within)) / 256;
            colour(cells.start.saturating_add_unsigned(offset as u64))
        }))
    }
}

/// The mean of some colours; black if there are none.
pub fn mean(colours: impl Iterator<Item = Rgb>) -> Rgb {
    let mut total = [0_u64; 3];
    let mut n_colours = 0;
    for colour in colours {
        for (sum, part) in total.iter_mut().zip(colour) {
            *sum += u64::from(part);
        }
        n_colours += 1;
    }
    total.map(|sum| ((sum + n_colours / 2) / n_colours.max(1)) as u8)
}
