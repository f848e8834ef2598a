//! Kept frames: at a spacing that doubles whenever there are too many.

use luge_net::Values;

use super::MOST_FRAME_BYTES;

/// The most frames.
const MOST_FRAMES: usize = 256;

/// All weights at one step.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    /// A snapshot as bytes.
    Packed(Vec<u8>),
    /// Every parameter, after so many steps.
    Whole(u64, Vec<Values>),
}

impl Frame {
    fn n_bytes(&self) -> usize {
        match self {
            Self::Packed(bytes) => bytes.len(),
            Self::Whole(_, parameters) => parameters.iter().map(|p| 8 * p.data.len()).sum(),
        }
    }
}

/// Frames at multiples of the spacing, in order.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    kept: Vec<(u64, Frame)>,
    spacing: u64,
    n_bytes: usize,
}

impl Frames {
    pub(super) fn new(spacing: u64) -> Self {
        Self { kept: Vec::new(), spacing: spacing.max(1), n_bytes: 0 }
    }

    /// The next step that is to be kept.
    pub(super) fn due(&self) -> u64 {
        self.kept.last().map_or(0, |(last, _)| last - last % self.spacing + self.spacing)
    }

    /// Keeps a frame; a frame that lies between the spacing is let go.
    pub(super) fn add(&mut self, step: u64, frame: Frame) {
        self.n_bytes += frame.n_bytes();
        self.kept.push((step, frame));
        while self.kept.len() > 1 && (self.kept.len() > MOST_FRAMES || self.n_bytes > MOST_FRAME_BYTES) {
            self.spacing = self.spacing.saturating_mul(2);
            let spacing = self.spacing;
            self.kept.retain(|(step, _)| step.is_multiple_of(spacing));
            self.n_bytes = self.kept.iter().map(|(_, frame)| frame.n_bytes()).sum();
        }
    }

    /// The last frame that is not after a step.
    pub(super) fn before(&self, step: u64) -> Option<(u64, &Frame)> {
        let after = self.kept.partition_point(|&(at, _)| at <= step);
        let (at, frame) = self.kept.get(after.checked_sub(1)?)?;
        Some((*at, frame))
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(steps: u64, bytes: usize) -> Frames {
        let mut frames = Frames::new(1);
        while frames.due() <= steps {
            frames.add(frames.due(), Frame::Packed(vec![0; bytes]));
        }
        frames
    }

    #[test]
    fn the_number_of_frames_is_bounded_and_the_start_is_kept() {
        let frames = filled(100_000, 1);
        assert!(frames.kept.len() <= MOST_FRAMES && frames.kept.len() > MOST_FRAMES / 4);
        assert_eq!(frames.before(0).map(|f| f.0), Some(0));
        let steps: Vec<u64> = frames.kept.iter().map(|f| f.0).collect();
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] == frames.spacing), "{steps:?}");
    }

    #[test]
    fn bytes_are_bounded() {
        let frames = filled(200, MOST_FRAME_BYTES / 4);
        assert!(frames.n_bytes() <= MOST_FRAME_BYTES);
        assert!(!frames.kept.is_empty());
    }

    #[test]
    fn the_nearest_frame_before_a_step() {
        let frames = filled(1000, 1);
        for step in [0, 1, 7, 500, 1000, 5000] {
            let (at, _) = frames.before(step).expect("the start is kept");
            assert!(at <= step && (step >= 1000 || step - at < frames.spacing), "{at} for {step}");
        }
    }
}
