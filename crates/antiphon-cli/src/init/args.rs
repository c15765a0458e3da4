//! The arguments of `init`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `init`.
#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// File to write; `antiphon serve` reads antiphon.toml in its working directory
    #[arg(value_name = "FILE", default_value = "antiphon.toml")]
    pub(super) file: PathBuf,
    /// Ask nothing, and take the default of each question
    #[arg(long)]
    pub(super) yes: bool,
    /// Replace the file if it exists
    #[arg(long)]
    pub(super) force: bool,
}
