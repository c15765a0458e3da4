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

const ABOUT: &str = "A gateway that keeps an agent's conversation whole";

const SOURCES: &str = "\
Every option has an environment variable (ANTIPHON_TURN_WAIT for --turn-wait; commas
separate the entries of ANTIPHON_API_KEY, ANTIPHON_SECRET, ANTIPHON_ALLOW_ORIGIN and ANTIPHON_ALLOW_HOST) and, --config aside, a key in the file (turn-wait = 30; the
lists api-keys = [\"KEY=TENANT\"], secrets, allow-origins and allow-hosts; max-open-turns,
requests-per-second and the quotas of tenants and conversations stand below [limits], where there are
more limits). An option wins over a variable, a variable over the file.
Logs go to standard error: ANTIPHON_LOG filters them, ANTIPHON_LOG_FORMAT is text or json.";

const STREAMS: &str = "\
Standard input is an event stream, or one JSON object a line. Standard output is an event stream.
Whatever comes in, what goes out is one well-formed stream that ends: a line that is no JSON object
ends the response as failed, is named by its number on standard error, and the exit code is 1. What
was put right in the stream is told there too.

  curl -N https://api.example/v1/chat/completions … | antiphon convert --from chat --to responses";

const HISTORIES: &str = "\
A history is a JSON array of items; a request with 'input', a string or an array; or a conversation
with its list in 'items' or 'data'. Messages of other APIs and frameworks are read too, as an array
or as a request or state with 'messages': Chat Completions, Anthropic (with 'system'), UI messages and
model messages of the AI SDK, LangChain (messages_to_dict, dumpd, or type and content). Standard error
says so once; positions are then those of the messages, and input[N] in the provider's words counts
the items that they become. A list of any other form is refused with exit code 2 and the first item
that was not understood; an item of an unknown 'type' is an item all the same.

A list as the API lists items ('object' is 'list') may have the
newest first, as it has by default: it is read in the order in which fewer faults are found.

A line tells the item's position from 0 (with --ndjson LINE:POSITION), its id or -, the fault, and
the provider's words. Items that the server holds have no position but -.

With --held, items that the server holds already are found too, and held calls that nobody answered;
every history is one continuation of what is held. A request that names a previous_response_id or a
conversation, without --held, is taken to continue what is out of sight: calls, reasoning, approvals
and items of a local shell count as held, and outputs as answers to held calls. In a history with
item references, outputs without a call count as answers to the calls that these name.

A history that cannot be read ends the command, with exit code 2; with --ndjson, what was before it
has been dealt with.";

const REPAIRS: &str = "\
A history goes to standard output in the shape in which it came; what is not mended keeps its bytes.
Messages of another API or framework (see 'antiphon check --help') are written as items of the
Responses API, even where nothing was mended, and standard error says so: in the place of their list,
or, of a request with 'messages', as an array alone.
What was mended is told on standard error: position, id, fault, what was done, the provider's words.

Policies:
  repair              answer calls that nobody answered, drop other items that are out of place
  drop                drop calls that nobody answered too, with the reasoning that only they followed
  reject              refuse a history with any of these, in the provider's words; exit code 1
  orphaned-reasoning  drop orphaned reasoning and touch nothing else
or, of these, those that differ from the first:
  calls=answer|drop|reject       calls that nobody answered
  reasoning=drop|reject          reasoning that nothing of the model's follows
  outputs=drop|keep|reject       outputs without a call
  references=keep|drop|reject    item references, which name nothing that is known here

See 'antiphon check --help' for what a history is and how --held and --ndjson work.";

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
