//! The arguments of `doctor`.

use std::num::NonZeroU16;

use clap::Args;

use crate::settings::SettingsArgs;

/// The arguments of `doctor`: those of a gateway, and some of its own.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Model to look for in the list of its upstream, besides the models of the settings
    #[arg(long, value_name = "NAME")]
    pub(super) model: Vec<String>,
    /// Seconds to wait for an upstream or a database
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub(super) timeout: NonZeroU16,
    /// Print JSON: one object per line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}
