//! Line charts as SVG text: a frame with round ticks, lines, bands, labels to the right of the frame, and a legend.

use std::fmt::Write;

/// Width of a chart.
pub const WIDTH: f64 = 960.0;
/// Height of a chart.
pub const HEIGHT: f64 = 540.0;
/// Width of the part that the lines are drawn in; nothing narrower than a unit of it can be seen.
pub const FRAME_WIDTH: usize = 640;

const LEFT: f64 = 84.0;
const TOP: f64 = 92.0;
const FRAME_HEIGHT: f64 = 384.0;
const RIGHT: f64 = LEFT + FRAME_WIDTH as f64;
const BOTTOM: f64 = TOP + FRAME_HEIGHT;
/// The distance between two lines of text to the right of the frame.
const LINE_HEIGHT: f64 = 17.0;
/// How many characters fit to the right of the frame.
const WIDEST_LABEL: usize = 30;
/// Distance of the titles from the left side.
const MARGIN: f64 = 24.0;
/// Characters of a title that fit to the left of the frame.
const LONGEST_TITLE: usize = 12;

const INK: &str = "#1f2933";
const FAINT: &str = "#66717d";
const GRID: &str = "#e4e7eb";

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stroke {
    /// An SVG colour.
    pub colour: &'static str,
    /// Its width.
    pub width: f64,
    /// An SVG dash pattern; empty for a solid line.
    pub dashes: &'static str,
}

impl Stroke {
    /// A solid line.
    pub fn solid(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dashes: "" }
    }

    /// A dashed line.
    pub fn dashed(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dashes: "6 4" }
    }

    fn attributes(self) -> String {
        let Self { colour, width, dashes } = self;
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) };
        format!(r#"fill="none" stroke="{colour}" stroke-width="{width}"{dashes}"#)
    }
}

/// An axis of a chart.
#[derive(Clone, Debug)]
pub struct Axis {
    title: String,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis from the lowest to the highest of the finite values.
    pub fn over(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low < high {
            (low, high)
        } else if low.is_finite() {
            (low - 0.5, high + 0.5)
        } else {
            (0.0, 1.0)
        };
        Self { title: title.to_owned(), low, high }
    }

    /// The same axis with a margin at both ends.
    #[must_use]
    pub fn with_room(self) -> Self {
        let room = 0.04 * (self.high - self.low);
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// The same axis with its lowest value on top.
    #[must_use]
    pub fn downwards(self) -> Self {
        Self { low: self.high, high: self.low, ..self }
    }

    fn fraction(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(-1.0, 2.0)
    }

    fn ticks(&self) -> Vec<f64> {
        round_numbers(self.low.min(self.high), self.low.max(self.high))
    }
}

/// About six round numbers between two others.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    if rough <= 0.0 {
        return vec![low];
    }
    let power = power_of_ten(decimal_exponent(rough));
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).ceil();
    let ticks = (0..).map(|i| (first + f64::from(i)) * step);
    // Adding 0 turns -0 into 0.
    ticks.take_while(|&t| t <= high).take(20).map(|t| t + 0.0).collect()
}

/// Formats a whole number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    in_groups(&n.to_string())
}

/// Groups digits by three.
fn in_groups(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the decimal exponent of a positive number, from its digits, because logarithms differ between platforms.
fn decimal_exponent(number: f64) -> i32 {
    format!("{number:e}").rsplit('e').next().and_then(|exponent| exponent.parse().ok()).unwrap_or(0)
}

fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// A chart under construction. Later elements cover earlier ones.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    subtitle: String,
    x: Axis,
    y: Axis,
    drawn: String,
    labels: Vec<(f64, String, &'static str)>,
    legend: Vec<(Sign, String)>,
}

/// The symbol of an entry of the legend.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Sign {
    Line(Stroke),
    Dot(&'static str),
}

impl Chart {
    /// An empty frame.
    pub fn new(title: &str, subtitle: &str, x: Axis, y: Axis) -> Self {
        let (title, subtitle) = (title.to_owned(), subtitle.to_owned());
        Self { title, subtitle, x, y, drawn: String::new(), labels: Vec::new(), legend: Vec::new() }
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (LEFT + self.x.fraction(x) * FRAME_WIDTH as f64, BOTTOM - self.y.fraction(y) * FRAME_HEIGHT)
    }

    /// Draws a line through the points, with gaps where a point is not finite.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let path = self.path(points);
        self.draw(&format!(r#"<path d="{path}" stroke-linejoin="round" {}/>"#, stroke.attributes()));
    }

    fn path(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        let mut pen = 'M';
        for point in points {
            if !point.1.is_finite() {
                pen = 'M';
                continue;
            }
            let (x, y) = self.place(point);
            path.push_str(&format!("{pen}{} {}", short(x), short(y)));
            pen = 'L';
        }
        path
    }

    /// Fills the area between two heights.
    pub fn band(&mut self, low: f64, high: f64, colour: &str) {
        let ((x, top), (_, bottom)) = (self.place((self.x.low, high)), self.place((self.x.low, low)));
        self.draw(&format!(
            r#"<rect x="{}" y="{}" width="{FRAME_WIDTH}" height="{}" fill="{colour}"/>"#,
            short(x),
            short(top),
            short(bottom - top)
        ));
    }

    /// Fills the area between a lower and an upper height at each place.
    pub fn ribbon(&mut self, heights: &[(f64, f64, f64)], colour: &str) {
        let there = heights.iter().map(|&(x, _, high)| (x, high));
        let back = heights.iter().rev().map(|&(x, low, _)| (x, low));
        let path = self.path(there.chain(back));
        self.draw(&format!(
            r#"<path d="{path}Z" fill="{colour}" fill-opacity="0.35" stroke="{colour}" stroke-width="1"/>"#
        ));
    }

    /// Fills the frame with an image from a data URL; its pixels stay sharp.
    pub fn image(&mut self, url: &str) {
        self.draw(&format!(
            r#"<image x="{LEFT}" y="{TOP}" width="{FRAME_WIDTH}" height="{FRAME_HEIGHT}" preserveAspectRatio="none" style="image-rendering:pixelated" href="{url}"/>"#
        ));
    }

    /// Draws a dot.
    pub fn dot(&mut self, point: (f64, f64), radius: f64, colour: &str) {
        let (x, y) = self.place(point);
        self.draw(&format!(r#"<circle cx="{}" cy="{}" r="{radius}" fill="{colour}"/>"#, short(x), short(y)));
    }

    /// Draws a line across the whole frame at one height, with a label on its right.
    pub fn level(&mut self, height: f64, stroke: Stroke, label: &str) {
        self.line([(self.x.low, height), (self.x.high, height)], stroke);
        self.label(height, label, stroke.colour);
    }

    /// Draws a line from bottom to top, with a label at its upper end.
    pub fn upright(&mut self, at: f64, stroke: Stroke, label: &str) {
        self.line([(at, self.y.low), (at, self.y.high)], stroke);
        let (x, _) = self.place((at, self.y.high));
        let (anchor, x) = if x > f64::midpoint(LEFT, RIGHT) { ("end", x - 6.0) } else { ("start", x + 6.0) };
        let label = escaped(label);
        self.draw(&format!(
            r#"<text x="{}" y="{}" text-anchor="{anchor}" fill="{}">{label}</text>"#,
            short(x),
            short(TOP + 14.0),
            stroke.colour
        ));
    }

    /// Adds a label on the right of the frame at this height.
    pub fn label(&mut self, height: f64, text: &str, colour: &'static str) {
        let (_, y) = self.place((self.x.high, height));
        self.labels.push((y, cut(text, WIDEST_LABEL), colour));
    }

    /// Adds a line to the legend.
    pub fn explain(&mut self, stroke: Stroke, text: &str) {
        self.legend.push((Sign::Line(stroke), cut(text, WIDEST_LABEL - 4)));
    }

    /// Adds a dot to the legend.
    pub fn explain_dot(&mut self, colour: &'static str, text: &str) {
        self.legend.push((Sign::Dot(colour), cut(text, WIDEST_LABEL - 4)));
    }

    fn draw(&mut self, element: &str) {
        self.drawn.push_str(element);
        self.drawn.push('\n');
    }

    /// Returns the chart as an SVG document.
    pub fn finish(mut self) -> String {
        self.labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut svg = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="{INK}">"#
        )?;
        writeln!(svg, r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>"##)?;
        let (title, subtitle) = (escaped(&cut(&self.title, 80)), escaped(&cut(&self.subtitle, 130)));
        writeln!(svg, r#"<text x="{MARGIN}" y="32" font-size="19" font-weight="bold">{title}</text>"#)?;
        writeln!(svg, r#"<text x="{MARGIN}" y="54" fill="{FAINT}">{subtitle}</text>"#)?;
        self.write_grid(svg)?;
        writeln!(
            svg,
            r#"<clipPath id="frame"><rect x="{LEFT}" y="{TOP}" width="{FRAME_WIDTH}" height="{FRAME_HEIGHT}"/></clipPath>"#
        )?;
        writeln!(svg, "<g clip-path=\"url(#frame)\">\n{}</g>", self.drawn)?;
        self.write_beside(svg)?;
        svg.push_str("</svg>\n");
        Ok(())
    }

    fn write_grid(&self, svg: &mut String) -> std::fmt::Result {
        for tick in self.x.ticks() {
            let x = short(self.place((tick, self.y.low)).0);
            writeln!(svg, r#"<path d="M{x} {TOP}V{BOTTOM}" stroke="{GRID}"/>"#)?;
            let (y, text) = (BOTTOM + 19.0, numeral(tick));
            writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="middle" fill="{FAINT}">{text}</text>"#)?;
        }
        for tick in self.y.ticks() {
            let y = self.place((self.x.low, tick)).1;
            writeln!(svg, r#"<path d="M{LEFT} {0}H{RIGHT}" stroke="{GRID}"/>"#, short(y))?;
            let (x, y, text) = (LEFT - 8.0, short(y + 4.5), numeral(tick));
            writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="end" fill="{FAINT}">{text}</text>"#)?;
        }
        let (x, y) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 44.0);
        let title = escaped(&self.x.title);
        writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="middle">{title}</text>"#)?;
        let (y, title) = (TOP - 12.0, escaped(&self.y.title));
        // A long title would begin left of the picture.
        let (x, anchor) = if title.len() > LONGEST_TITLE { (MARGIN, "start") } else { (LEFT - 8.0, "end") };
        writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="{anchor}">{title}</text>"#)
    }

    /// Writes labels and legend; labels that would overlap are moved apart.
    fn write_beside(&self, svg: &mut String) -> std::fmt::Result {
        let x = RIGHT + 12.0;
        let mut lowest = TOP;
        for (y, text, colour) in &self.labels {
            let y = (y + 4.5).max(lowest);
            lowest = y + LINE_HEIGHT;
            let text = escaped(text);
            writeln!(svg, r#"<text x="{x}" y="{}" fill="{colour}">{text}</text>"#, short(y))?;
        }
        for (entry, (sign, text)) in self.legend.iter().enumerate() {
            let y = TOP + 10.0 + entry as f64 * (LINE_HEIGHT + 4.0);
            let end = x + 26.0;
            match sign {
                Sign::Line(stroke) => {
                    writeln!(svg, r#"<path d="M{x} {y}H{end}" {}/>"#, stroke.attributes())?;
                }
                Sign::Dot(colour) => {
                    writeln!(svg, r#"<circle cx="{}" cy="{y}" r="5.5" fill="{colour}"/>"#, x + 13.0)?;
                }
            }
            let (x, y, text) = (end + 8.0, y + 4.5, escaped(text));
            writeln!(svg, r#"<text x="{x}" y="{y}">{text}</text>"#)?;
        }
        Ok(())
    }
}

/// Formats a number for readers: grouped digits, decimals only up to five digits in all, and a power of ten if it is very large
/// or small.
pub fn numeral(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "not finite".to_owned();
    }
    if size != 0.0 && !(1e-4..1e10).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let before_point = if size < 1.0 { 0 } else { decimal_exponent(size) as usize + 1 };
    let mut text = format!("{value:.*}", 5_usize.saturating_sub(before_point));
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{rest}", in_groups(whole))
}

/// Formats a coordinate to a tenth of a pixel.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn cut(text: &str, widest: usize) -> String {
    if text.chars().count() <= widest {
        return text.to_owned();
    }
    text.chars().take(widest - 1).chain(['…']).collect()
}

/// Escapes text for an SVG document.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let check = |value: f64, expected: &str| assert_eq!(numeral(value), expected);
        check(0.0, "0");
        check(8224.0, "8,224");
        check(-1_234_567.0, "-1,234,567");
        check(0.05, "0.05");
        check(1.5, "1.5");
        check(12.345_678, "12.346");
        check(999_999.4, "999,999");
        check(1e-7, "1e-7");
        check(524_424_773_632.0, "5.244e11");
        check(f64::NAN, "not finite");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 47_176_870].map(grouped), ["0", "999", "1,000", "47,176,870"]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = |low, high| Axis::over("", [low, high]).ticks();
        assert_eq!(ticks(0.0, 107.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(-1.0, 1.0), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn an_axis_is_never_empty() {
        for values in [vec![], vec![3.0], vec![f64::NAN, f64::INFINITY]] {
            let axis = Axis::over("", values);
            assert!(axis.low < axis.high);
        }
    }

    #[test]
    fn text_is_escaped_and_cut() {
        let chart = Chart::new("a < b & c", &"x".repeat(500), Axis::over("", []), Axis::over("", []));
        let svg = chart.finish();
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains(&("x".repeat(129) + "…<")));
    }

    #[test]
    fn lines_are_interrupted_where_there_is_no_number() {
        let axis = || Axis::over("", [0.0, 3.0]);
        let chart = Chart::new("", "", axis(), axis());
        let path = chart.path([(0.0, 0.0), (1.0, 0.0), (2.0, f64::NAN), (3.0, 3.0)]);
        assert_eq!(path, format!("M{LEFT} {BOTTOM}L{:.1} {BOTTOM}M{RIGHT} {TOP}", LEFT + 640.0 / 3.0));
    }
}
