//! A space-time picture as a figure: cells across, steps downwards, with axes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use luge::draw::{
    Axis, Chart,
    picture::{self, Rgb, Size},
};

use super::Strip;

impl Strip {
    /// Draws the picture with axes as an SVG document that needs nothing else, the heads in red.
    ///
    /// # Errors
    /// If the picture inside cannot be encoded.
    pub fn draw(&self, tape: &str) -> Result<String, png::EncodingError> {
        let mut png = Vec::new();
        self.write_png(&mut png)?;
        // Cells and rows are centred on their numbers. All rows but the last are equally far apart.
        let cells = [self.cells.start as f64 - 0.5, self.cells.end as f64 - 0.5];
        let first = self.steps.first().map_or(0.0, |&step| step as f64);
        let distance = self.steps.get(1).map_or(1.0, |&step| step as f64 - first);
        let steps = [-0.5, self.steps.len() as f64 - 0.5].map(|row| first + row * distance);
        let (x, y) = (Axis::over("cell", cells), Axis::over("gradient steps", steps).downwards());
        let mut chart = Chart::new(&format!("Tape {tape} over the run"), "", x, y);
        chart.image(&format!("data:image/png;base64,{}", STANDARD.encode(png)));
        Ok(chart.finish())
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
