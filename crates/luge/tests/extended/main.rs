//! The extended network in both directions: as printed it fails, and here is how; as corrected it works.
//!
//! The items are those of docs/construction.md, section 9.

mod carrier;
mod classroom;
mod drift;
mod formats;
mod line_search;
mod prediction;
mod primary;
mod ramps;
mod start;
mod stopping;
