//! What most commands use.

pub(super) use std::path::{Path, PathBuf};

pub(super) use luge::{
    draw::numeral,
    files::{AnyModel, Output, Outputs},
    job::{Job, Source},
    object,
};
pub(super) use luge_landscape::LandscapeKind;
pub(super) use luge_machine::{
    Step,
    lowering::{Moves, lower},
};
pub(super) use luge_net::Network;
pub(super) use serde::Serialize;

pub(super) use super::{
    data_args::{CsvArgs, DataArgs, FormatArg, named_table, read_text, show_notes},
    failure::{Failure, open_learner, show_warnings},
    landscape_args::{LandscapeArgs, TOWARDS_HALT},
    long_run::{LongRun, LongRunArgs, duration},
    machine_args::{InputArgs, MachineArgs, format_parser, step_count, up_to, word},
    output::{
        ForceArg, Rows, columns, count, json_line, note, numbers, place, print, print_json, sample_sizes,
        show, show_rows, verdict,
    },
    progress::{PATIENCE, Progress},
    window::window,
};
