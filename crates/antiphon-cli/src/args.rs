//! The command line.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};

use crate::failure::Failure;
use crate::settings::ServeArgs;
use crate::sim::{SIM, SimArgs};
use crate::tenants::{ERASURE, EraseArgs, ExportArgs, LINES, StoreArgs};

#[derive(Debug, Parser)]
#[command(name = "antiphon", version, about = ABOUT, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the Responses and Conversations API
    #[command(after_help = SOURCES)]
    Serve(Box<ServeArgs>),
    /// Report the items of a history that a provider would reject; exit code 1 if there are any
    #[command(after_help = HISTORIES)]
    Check(HistoryArgs),
    /// Repair the items of a history that a provider would reject, and report each repair
    #[command(after_help = REPAIRS)]
    Repair(RepairArgs),
    /// Hash an API key, read from standard input, for use in the settings in place of the key
    HashKey,
    /// Convert a model's stream from one API's events to another's
    #[command(after_help = STREAMS)]
    Convert(ConvertArgs),
    /// List the tenants with data in a store, and the amount of it, as one JSON object per line
    Tenants(StoreArgs),
    /// Export all data of a tenant in a store, as JSON lines
    #[command(after_help = LINES)]
    Export(ExportArgs),
    /// Erase all data of a tenant in a store
    #[command(after_help = ERASURE)]
    Erase(EraseArgs),
    /// Run a simulated stateful provider, to test an agent or a gateway against
    #[command(after_help = SIM)]
    Sim(SimArgs),
}

/// The arguments of `convert`.
#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// Dialect of standard input: ai-sdk, chat, anthropic or responses
    #[arg(long, value_name = "DIALECT")]
    pub(crate) from: String,
    /// Dialect of the output: responses or anthropic
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

const SOURCES: &str = "\
Every option has an environment variable (ANTIPHON_TURN_WAIT for --turn-wait) and, except --config,
a key in the file (turn-wait = 30). Commas separate the entries of ANTIPHON_API_KEY, ANTIPHON_SECRET,
ANTIPHON_ALLOW_ORIGIN and ANTIPHON_ALLOW_HOST; in the file they are the lists api-keys
(api-keys = [\"KEY=TENANT\"]), secrets, allow-origins and allow-hosts. max-open-turns,
requests-per-second and the quotas belong below [limits], like the other limits. An option overrides
a variable, and a variable overrides the file.

Logs go to standard error: ANTIPHON_LOG filters them, ANTIPHON_LOG_FORMAT is text or json.";

const STREAMS: &str = "\
Standard input is an event stream, or one JSON object per line. Standard output is an event stream.
The output is always one well-formed stream that ends. A line that is not a JSON object ends the
response as failed; standard error names its number, and the exit code is 1. Standard error also
lists the corrections to the stream.

  curl -N https://api.example/v1/chat/completions … | antiphon convert --from chat --to responses";

const HISTORIES: &str = "\
A history is a JSON array of items; a request with 'input', a string or an array; or a conversation
with its list in 'items' or 'data'. Messages of other APIs and frameworks are converted, as an array
or as a request or state with 'messages': Chat Completions, Anthropic (with 'system'), UI messages and
model messages of the AI SDK, LangChain (messages_to_dict, dumpd, or type and content). Standard error
then names the form. Positions are those of the messages, and input[N] in the provider's texts counts
the items after the conversion. A list of any other form is refused with exit code 2 and its first
unknown item. An item with an unknown 'type' is accepted.

A list from the API ('object' is 'list') may have the newest item first, which is the default of the
API. It is read in the order with fewer faults.

Each line of the output has the item's position from 0 (with --ndjson LINE:POSITION), its id or -,
the fault, and the provider's text. Items that the server holds have - as position.

With --held, items that the server already holds are found too, and held calls without an output;
every history continues the held items. A request with a previous_response_id or a conversation, but
without --held, continues items that are not visible: calls, reasoning, approvals and items of a
local shell count as held, and outputs as answers to held calls. In a history with item references,
outputs without a call count as answers to the referenced calls.

A history that cannot be read ends the command with exit code 2. With --ndjson, earlier histories
have been processed by then.";

const REPAIRS: &str = "\
The repaired history goes to standard output in its original shape; items without a fault keep their
bytes. Messages of another API or framework (see 'antiphon check --help') are written as items of the
Responses API, even without a repair: in the place of their list, or as an array if they came in a
request with 'messages'. Standard error says so.
Each repair is a line on standard error: position, id, fault, action, the provider's text.

Policies:
  repair              answer calls without an output, drop other items that are out of place
  drop                drop calls without an output too, with the reasoning that only they followed
  reject              refuse a history with any of these, with the provider's text; exit code 1
  orphaned-reasoning  drop orphaned reasoning and change nothing else
or a comma-separated list of these, for all that differ from the first policy:
  calls=answer|drop|reject       calls without an output
  reasoning=drop|reject          reasoning without a following item of the model
  outputs=drop|keep|reject       outputs without a call
  references=keep|drop|reject    references to items that are not known

See 'antiphon check --help' for the forms of a history, --held and --ndjson.";

/// Parses the command line.
///
/// If the user asks for help or the version, this function prints it and ends the process. If the
/// command line is invalid, the process ends with exit code 2.
pub(crate) fn parse() -> Result<Command, Failure> {
    match CommandLine::try_parse() {
        Ok(line) => Ok(line.command),
        Err(error) if shows_a_value(&error) => Err(Failure::usage(
            "a value on the command line belongs to no option; --help lists them",
        )),
        Err(error) => error.exit(),
    }
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
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
