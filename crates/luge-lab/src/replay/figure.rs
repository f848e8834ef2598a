//! A space-time picture as a figure: cells across, steps downwards, with axes.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use luge::draw::{
    picture::{self, Rgb, Size},
    plot::{escaped, numeral, round_numbers},
};

use super::Strip;

/// The picture inside its axes.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 96.0;
const TOP: f64 = 44.0;
const WHOLE: (f64, f64) = (LEFT + WIDTH + 24.0, TOP + HEIGHT + 56.0);

impl Strip {
    /// Draws the picture with axes as an SVG document that needs nothing else, the heads in red.
    ///
    /// # Errors
    /// If the picture inside cannot be encoded.
    pub fn draw(&self, tape: &str) -> Result<String, png::EncodingError> {
        let mut png = Vec::new();
        self.write_png(&mut png)?;
        let (width, height) = WHOLE;
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="12" fill="#1f2933">"##
        );
        let title = escaped(&format!("Tape {tape} over the run"));
        let image = STANDARD.encode(png);
        // Writing into a string does not fail.
        let _ = write!(
            svg,
            r##"<title>{title}</title><rect width="{width}" height="{height}" fill="#fff"/><text x="{LEFT}" y="26" font-size="15" font-weight="bold">{title}</text><image x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{image}"/><rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#66717d"/>"##
        );
        self.draw_axes(&mut svg);
        svg.push_str("</svg>\n");
        Ok(svg)
    }

    fn draw_axes(&self, svg: &mut String) {
        let bottom = TOP + HEIGHT;
        let n_cells = (self.cells.end - self.cells.start).max(1) as f64;
        for cell in round_numbers(self.cells.start as f64, (self.cells.end - 1) as f64) {
            let x = LEFT + (cell - self.cells.start as f64 + 0.5) / n_cells * WIDTH;
            let _ = write!(
                svg,
                r##"<path d="M{x:.1} {bottom}v5" stroke="#66717d"/><text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"##,
                bottom + 19.0,
                numeral(cell)
            );
        }
        let (first, last) =
            (self.steps.first().copied().unwrap_or(0), self.steps.last().copied().unwrap_or(0));
        for step in round_numbers(first as f64, last as f64) {
            // Rows stand at equal distances, but for the last.
            let row = self.steps.partition_point(|&at| (at as f64) < step) as f64 + 0.5;
            let y = TOP + row / self.steps.len().max(1) as f64 * HEIGHT;
            let _ = write!(
                svg,
                r##"<path d="M{} {y:.1}h-5" stroke="#66717d"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"##,
                LEFT,
                LEFT - 8.0,
                y + 4.0,
                numeral(step)
            );
        }
        let (middle, across) = (TOP + HEIGHT / 2.0, LEFT + WIDTH / 2.0);
        let _ = write!(
            svg,
            r##"<text x="{across}" y="{}" text-anchor="middle">cell</text><text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">gradient steps</text>"##,
            bottom + 42.0
        );
    }

    /// Writes the bare picture as a PNG file, one pixel per cell and row, the heads in red.
    fn write_png(&self, out: &mut Vec<u8>) -> Result<(), png::EncodingError> {
        let n_cells = i128::from((self.cells.end - self.cells.start).max(1));
        let mut pixels: Vec<Rgb> = self.pixels.clone();
        for (row, head) in self.heads.iter().enumerate() {
            let Some(head) = head.filter(|head| self.cells.contains(head)) else { continue };
            let column = i128::from(head - self.cells.start) * self.width as i128 / n_cells;
            if let Some(pixel) =
                usize::try_from(column).ok().and_then(|c| pixels.get_mut(row * self.width + c))
            {
                *pixel = picture::HEAD;
            }
        }
        picture::write_png(out, Size { width: self.width, height: self.steps.len() }, &pixels)
    }
}
