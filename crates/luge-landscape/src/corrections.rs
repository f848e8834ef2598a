//! The corrections that the printed construction needs to run, each with its own switch.

/// The corrections to the printed paper that shape a landscape, and the extended network around it. All are on by default;
/// turning one off gives the printed version, to show that it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Corrections {
    /// The head shift uses `H_{i - delta_3}`; printed `i + delta_3`, which mirrors every move.
    pub forward_shift: bool,
    /// The sum over edges of `internal` runs over unordered pairs; printed over ordered ones, which doubles the weights.
    pub unordered_pairs: bool,
    /// Copies of every state in `relu`, visited in turn. Three are needed, as printed;
    /// two leave v -> w -> v, one leaves self-edges.
    pub n_copies: u32,
    /// The sum over edges leaves out v = w; printed it runs over all pairs.
    pub no_self_edges: bool,
    /// Halting situations write what they read and stay; printed they are undefined, taken here as zero columns.
    pub halting_stays: bool,
    /// The next symbols are read from the tape after the write; printed from the tape before it, wrong for heads that stay.
    pub write_through_read: bool,
    /// The arc from z to f_TM is a stop-gradient; printed it is solid, and z drifts.
    pub labels_stopped: bool,
    /// f_perp's denominators are guarded; printed f_perp(0) is 0/0.
    pub guarded_carrier: bool,
    /// The switches are selects; printed they are sums of products, where 0 times infinity is NaN.
    pub select_switches: bool,
    /// The ramps are rounded once; as two quotients they do not end at exactly 0 and 1.
    pub ramps_rounded_once: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Self {
            forward_shift: true,
            unordered_pairs: true,
            n_copies: 3,
            no_self_edges: true,
            halting_stays: true,
            write_through_read: true,
            labels_stopped: true,
            guarded_carrier: true,
            select_switches: true,
            ramps_rounded_once: true,
        }
    }
}
