//! Finds the smallest suitable number format: runs a program in the interpreter with wide numbers, and then with fewer bits.

use std::fmt;

use luge_net::{
    NumberFormat,
    numbers::{FixedPoint, MAX_BITS, Negatives},
};
use luge_sled::{Outcome, Verdict};

use super::{
    JobError, TrainJob,
    program::{self, SizedSource},
    source::Source,
};
use crate::stream::{Samples, Stream, StreamJob, StreamLandscape};

/// Bits after the point during the search for the bits before it.
const PROBE_FRACTION: u32 = 8;
/// The most statements of a run with wide numbers.
const MAX_STATEMENTS: u64 = 1 << 26;
/// The allowed error of theta, relative to its largest number.
const TOLERANCE: f64 = 1.0 / 64.0;

/// A format that was chosen, and the difference of theta from that with wide numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct FormatChoice {
    /// The format.
    pub format: NumberFormat,
    /// The format with the most bits after the point, whose theta is the reference.
    pub reference: NumberFormat,
    /// The largest difference of a number of theta.
    pub difference: f64,
    /// The largest that was allowed.
    pub tolerance: f64,
}

impl fmt::Display for FormatChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, reference, difference, tolerance } = self;
        if difference <= tolerance {
            return write!(
                f,
                "{format}, the smallest in which no number wraps around and theta is within {tolerance} of that in {reference}: it differs by {difference}"
            );
        }
        write!(
            f,
            "{format}, in which no number wraps around; theta depends on how numbers are rounded: it differs by {difference} from that in {reference}"
        )
    }
}

/// Why no format is suitable.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoFormat {
    /// Only programs can be compiled for other formats.
    #[error("a machine computes with one format only")]
    Machine,
    /// The program has no answer.
    #[error("the program rejects these data, in line {0}")]
    Rejects(u32),
    /// The program does not end.
    #[error("the program does not end within {MAX_STATEMENTS} statements")]
    Endless,
    /// Numbers are too large for every format.
    #[error("numbers of the program are too large for {MAX_BITS} bits, in line {0}")]
    TooLarge(u32),
    /// The data are too large for every format.
    #[error("the data have numbers that are too large for {MAX_BITS} bits")]
    Data,
}

/// A program, and a function that runs it with numbers of a format and a limit on statements.
struct Search<'a> {
    source: &'a Source,
    /// The numbers of its data.
    data: Vec<f64>,
    run: &'a dyn Fn(NumberFormat, u64) -> Result<Outcome, JobError>,
    limit: u64,
}

impl TrainJob {
    /// Sets the smallest format in which no number of the program wraps around and theta is close to that with wide numbers.
    ///
    /// # Errors
    /// If the data are not a table, or no format is suitable.
    pub fn choose_format(&mut self) -> Result<FormatChoice, JobError> {
        let table = self.as_given()?;
        let run = |format, limit| SizedSource { format, ..self.for_table(&table) }.interpret(&table, limit);
        let (source, data) = (&self.source, table.numbers());
        let choice = Search { source, data, run: &run, limit: MAX_STATEMENTS }.choose()?;
        self.options.format = choice.format;
        Ok(choice)
    }
}

impl StreamJob {
    /// The same on a stream. Which samples a machine or a circuit takes depends on how long it is busy. So the program is first run on
    /// all samples, and then on those that it takes; if a number wraps around there, the format gets more bits before the point.
    ///
    /// # Errors
    /// If no format is suitable.
    pub fn choose_format(&mut self) -> Result<FormatChoice, JobError> {
        let sizes = self.samples.sizes();
        let data = match &self.samples {
            Samples::Table(table, _) => table.numbers(),
            Samples::Draw(_) => Vec::new(),
        };
        let run = |format, limit| {
            let sized = SizedSource { format, ..self.sized() };
            if let Samples::Table(table, _) = &self.samples {
                let ran = sized.interpret(table, limit)?;
                if ran.taken == 0 && ran.verdict != Verdict::Waiting {
                    return Ok(ran);
                }
            }
            let mut stream = Stream::open(self.samples.clone(), format, self.options.seed);
            let (mut x, mut y) = (vec![0.0; sizes.0], vec![0.0; sizes.1]);
            let mut next = || {
                stream.next_batch(&mut x, &mut y);
                Some(x.iter().chain(&y).map(|&number| program::raw(number, format)).collect())
            };
            sized.interpret_stream(&mut next, limit)
        };
        let search = Search { source: &self.source, data, run: &run, limit: MAX_STATEMENTS };
        let mut choice = search.choose()?;
        self.options.format = choice.format;
        while let NumberFormat::Fixed(fixed) = choice.format
            && match self.landscape {
                StreamLandscape::Plain => self.prepare().is_ok_and(|prepared| prepared.overflows()),
                StreamLandscape::Mlp => self.circuit_overflows(),
            }
            && let Some(wider) = format(fixed.n_integer + 1, fixed.n_fraction)
        {
            choice.format = wider;
            self.options.format = wider;
        }
        Ok(choice)
    }
}

impl Search<'_> {
    /// Finds the smallest format in which no number wraps around and theta is close to that with wide numbers.
    fn choose(mut self) -> Result<FormatChoice, JobError> {
        if !program::is_program(self.source) {
            return Err(self.no_format(NoFormat::Machine));
        }
        let holds = |integer: &u32| {
            let end = (1_u64 << (integer - 1)) as f64;
            self.data.iter().all(|number| (-end..=end - 1.0).contains(number))
        };
        let least = (2..MAX_BITS).find(holds).ok_or_else(|| self.no_format(NoFormat::Data))?;
        let widest = (least..=MAX_BITS - PROBE_FRACTION).rev().find(|&i| self.checks(i, PROBE_FRACTION));
        let Some(widest) = widest else { return self.only_format() };
        let wide = self.answer(widest, PROBE_FRACTION)?;
        // A program whose numbers wrap around may not end.
        self.limit = wide.statements.saturating_mul(4).saturating_add(1 << 10);
        let (mut low, mut integer) = (least, widest);
        while low < integer {
            let middle = low.midpoint(integer);
            if self.fits(middle, PROBE_FRACTION).is_some() { integer = middle } else { low = middle + 1 }
        }
        let (integer, most, reference) = (integer..=widest)
            .find_map(|i| {
                let most = (0..=MAX_BITS - i).rev().find(|&f| self.checks(i, f))?;
                Some((i, most, self.fits(i, most)?))
            })
            .ok_or_else(|| self.no_format(NoFormat::Endless))?;
        let theta = numbers_of(&reference, most);
        let largest = theta.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
        let choice = |fraction: u32, outcome: &Outcome| {
            let pairs = numbers_of(outcome, fraction).into_iter().zip(&theta);
            let difference = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            let (format, reference) = (format(integer, fraction)?, format(integer, most)?);
            Some(FormatChoice { format, reference, difference, tolerance: largest * TOLERANCE })
        };
        let tried = |fraction: u32| choice(fraction, &self.fits(integer, fraction)?);
        let near = (0..=most).filter_map(tried).find(|choice| choice.difference <= choice.tolerance);
        // The reference format always agrees with itself, which proves nothing, and long words are slow.
        let meaningful = near.filter(|choice| choice.format != choice.reference || most <= PROBE_FRACTION);
        meaningful
            .or_else(|| (PROBE_FRACTION.min(most)..=most).find_map(tried))
            .ok_or_else(|| self.no_format(NoFormat::Endless))
    }

    /// Returns the format of the program's signature.
    fn only_format(&self) -> Result<FormatChoice, JobError> {
        let sizes = luge_sled::usual_sizes(&self.source.text);
        self.answer(sizes.integer, sizes.fraction)?;
        let format = format(sizes.integer, sizes.fraction).unwrap_or_default();
        Ok(FormatChoice { format, reference: format, difference: 0.0, tolerance: 0.0 })
    }

    fn run(&self, integer: u32, fraction: u32, limit: u64) -> Result<Outcome, JobError> {
        let format = format(integer, fraction).ok_or_else(|| self.no_format(NoFormat::Data))?;
        (self.run)(format, limit)
    }

    fn no_format(&self, why: NoFormat) -> JobError {
        JobError::NoFormat { name: self.source.name.clone(), why }
    }

    /// Whether the program compiles for such numbers: its own types and literals may need more or fewer bits.
    fn checks(&self, integer: u32, fraction: u32) -> bool {
        self.run(integer, fraction, 0).is_ok()
    }

    /// Runs the program; `None` unless it has an answer and no number wraps around.
    fn fits(&self, integer: u32, fraction: u32) -> Option<Outcome> {
        let fits = |ran: &Outcome| ran.verdict == Verdict::Accepted && ran.wraps.is_empty();
        self.run(integer, fraction, self.limit).ok().filter(fits)
    }

    /// Runs the program; the error says why it has no answer.
    fn answer(&self, integer: u32, fraction: u32) -> Result<Outcome, JobError> {
        let ran = self.run(integer, fraction, self.limit)?;
        let line = ran.line.unwrap_or(1);
        let why = match (ran.verdict, ran.wraps.first()) {
            (Verdict::Repeats, _) => return Err(JobError::repeats(self.source, line)),
            (_, Some(wrap)) => NoFormat::TooLarge(wrap.line),
            (Verdict::Accepted, None) => return Ok(ran),
            (Verdict::Rejected, None) => NoFormat::Rejects(line),
            (Verdict::Limit | Verdict::Waiting, None) => NoFormat::Endless,
        };
        Err(self.no_format(why))
    }
}

fn format(integer: u32, fraction: u32) -> Option<NumberFormat> {
    FixedPoint::new(integer, fraction, Negatives::TwosComplement).ok().map(NumberFormat::Fixed)
}

fn numbers_of(outcome: &Outcome, fraction: u32) -> Vec<f64> {
    outcome.theta.iter().map(|&raw| raw as f64 / (1_u64 << fraction) as f64).collect()
}
