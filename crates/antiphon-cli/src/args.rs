//! The command line.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::conformance::ConformanceArgs;
use crate::doctor::DoctorArgs;
use crate::explain::ExplainArgs;
use crate::failure::Failure;
use crate::health::HealthArgs;
use crate::init::InitArgs;
use crate::inspect::InspectArgs;
use crate::mock::{MockArgs, SimArgs};
use crate::run::RunArgs;
use crate::settings::ServeArgs;
use crate::tenants::{EraseArgs, ExportArgs, ImportArgs, StoreArgs};

/// The text after the options of a command, in the file of this name.
macro_rules! help_text {
    ($name:literal) => {
        join_paragraphs(include_str!(concat!("help/", $name, ".txt")))
    };
}

/// The text with each paragraph on one line, which clap wraps at the width of the terminal.
/// Indented lines stay as they are.
fn join_paragraphs(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let continues = |line: &str| !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if continues(before) && continues(line) { ' ' } else { '\n' });
        }
        joined.push_str(line);
        before = line;
    }
    joined
}

#[derive(Debug, Parser)]
#[command(name = "antiphon", version, long_version = LONG_VERSION, about = ABOUT)]
#[command(arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the Responses and Conversations API
    #[command(after_help = help_text!("serve"))]
    Serve(Box<ServeArgs>),
    /// Run a coding agent with a gateway
    #[command(after_help = help_text!("run"))]
    Run(Box<RunArgs>),
    /// Write a settings file with comments, after three questions
    #[command(after_help = help_text!("init"))]
    Init(InitArgs),
    /// Check the settings, the upstreams, the clock and the store, and name the next steps
    #[command(after_help = help_text!("doctor"))]
    Doctor(Box<DoctorArgs>),
    /// Ask a running gateway if it is ready; exit code 1 if it is not
    #[command(after_help = help_text!("health"))]
    Health(HealthArgs),
    /// Report the items of a history that a provider would reject; exit code 1 if there are any
    #[command(after_help = help_text!("check"))]
    Check(HistoryArgs),
    /// Repair the items of a history that a provider would reject, and report each repair
    #[command(after_help = help_text!("repair"))]
    Repair(RepairArgs),
    /// Describe a fault or an error of a provider: its causes, an example and the fix
    #[command(after_help = help_text!("explain"))]
    Explain(ExplainArgs),
    /// Hash an API key, read from standard input, for use in the settings in place of the key
    HashKey,
    /// Convert a model's stream from one API's events to another's
    #[command(after_help = help_text!("convert"))]
    Convert(ConvertArgs),
    /// List the tenants with data in a store, and the amount of it, as one JSON object per line
    Tenants(StoreArgs),
    /// Show the conversations of a tenant, and how each turn treated its items
    #[command(after_help = help_text!("inspect"))]
    Inspect(InspectArgs),
    /// Export all data of a tenant in a store, as JSON lines
    #[command(after_help = help_text!("export"))]
    Export(ExportArgs),
    /// Import conversations into a tenant in a store: an export, or lists of items
    #[command(after_help = help_text!("import"))]
    Import(ImportArgs),
    /// Erase all data of a tenant in a store
    #[command(after_help = help_text!("erase"))]
    Erase(EraseArgs),
    /// Serve a strict provider with state, to test an agent or a gateway against
    #[command(after_help = help_text!("mock"))]
    Mock(MockArgs),
    /// Compare a server with the rules of the strict provider; exit code 1 if answers differ
    #[command(after_help = help_text!("conformance"))]
    Conformance(ConformanceArgs),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = help_text!("completions"))]
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    #[command(after_help = help_text!("man"))]
    Man(ManArgs),
    /// Serve the provider of `mock`, without its checks unless --strict is given
    #[command(hide = true, after_help = help_text!("mock"))]
    Sim(SimArgs),
}

/// The arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    pub(crate) shell: Shell,
}

/// The arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Directory for the pages of all commands; it is created if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// The arguments of `convert`.
#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// Dialect of standard input: ai-sdk, chat, anthropic or responses
    #[arg(long, value_name = "DIALECT")]
    pub(crate) from: String,
    /// Dialect of the output: responses, chat or anthropic
    #[arg(long, value_name = "DIALECT")]
    pub(crate) to: String,
    /// Write one event per line, without the event stream framing
    #[arg(long, conflicts_with = "fold")]
    pub(crate) ndjson: bool,
    /// Write the whole answer as one JSON object
    #[arg(long)]
    pub(crate) fold: bool,
    /// Event names of raw reasoning: openai or open-responses [default: openai]
    #[arg(long, value_name = "WHOSE")]
    pub(crate) event_names: Option<String>,
    /// Request that the stream answers, as JSON; supplies its tools and tool choice
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
}

/// The arguments that `check` and `repair` share: the histories to read, and the report format.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// File to read; - or no file reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Read one history per line
    #[arg(long)]
    pub(crate) ndjson: bool,
    /// Items that the server already holds: an array of items, or a conversation's list of items
    #[arg(long, value_name = "FILE")]
    pub(crate) held: Option<PathBuf>,
    /// Report format: text or json, one line per finding [default: text]
    #[arg(long, value_name = "FORM")]
    pub(crate) report: Option<String>,
}

/// The arguments of `repair`.
#[derive(Args, Debug)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Repair policy: a name, or KEY=VALUE,... [default: repair]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
}

const ABOUT: &str = "Stops agents from failing with duplicate items, missing outputs and orphaned \
                     reasoning";

/// The answer to `--version`. `-V` prints only the version.
const LONG_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\ntoken vocabularies: cl100k_base, o200k_base");

/// Parses the command line.
///
/// If the user asks for help or the version, this function prints it and ends the process. If the
/// command line is invalid, the process ends with exit code 2.
pub(crate) fn parse() -> Result<Command, Failure> {
    match CommandLine::try_parse() {
        Ok(line) => Ok(line.command),
        Err(error) if shows_a_value(&error) => Err(Failure::usage(
            "an argument on the command line belongs to no option; --help lists the options",
        )),
        Err(error) => error.exit(),
    }
}

/// The description of the whole command line.
pub(crate) fn command_line() -> clap::Command {
    CommandLine::command()
}

/// Whether the error message would repeat a stray word. Such a word may be part of an API key that
/// a blank split off.
fn shows_a_value(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::UnknownArgument
        && matches!(
            error.get(ContextKind::InvalidArg),
            Some(ContextValue::String(word)) if !word.starts_with('-')
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn only_lines_of_a_paragraph_are_joined() {
        let text = "One\ntwo.\n\nThree:\n  four\n  five\nsix\nseven\n";
        let joined = "One two.\n\nThree:\n  four\n  five\nsix seven";
        assert_eq!(join_paragraphs(text), joined);
    }
}
