//! The arguments of `sim`.

use std::path::PathBuf;

use clap::Args;

/// The behavior of the simulated provider. `sim` parses the values.
#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// Reject the requests that OpenAI would reject, with its error texts; without this, a request
    /// is not checked against the stored state
    #[arg(long)]
    pub(crate) strict: bool,
    /// IP address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8485")]
    pub(crate) listen: String,
    /// Provider to simulate: openai, azure (no conversations) or open-responses (response chains
    /// only)
    #[arg(long, value_name = "NAME", default_value = "openai")]
    pub(crate) profile: String,
    /// Items to store from a turn whose caller disconnects: part, whole or nothing
    #[arg(long, value_name = "WHAT", default_value = "part")]
    pub(crate) on_abort: String,
    /// Answers for the first turns, before the built-in model takes over: a JSON array
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}

pub(crate) const SIM: &str = r#"A provider of the Responses and Conversations API for tests of agents. It stores conversations,
responses and items for each bearer token, in memory only.

Its model knows nothing but its input. It says "Noted.", answers questions about a color and a dog
from the user's messages ("My color is purple"), calls a tool that the user names ("Echo hello" with
a tool echo; twice if the text asks for it), and repeats the outputs of tools.

  GET  /log?token=X                    every request, its refusal, the input of the model, and the
                                       items that the model received twice
  POST /hold?token=X&at=PLACE          stop the next streamed answer to that token: head, in_reasoning,
                                       in_arguments, behind_call or in_text
  POST /on-abort?outcome=WHAT          set --on-abort from now on
  POST /lose?response=ID               delete a response, as if it had expired

A script is an array of answers. Each is sent to the next turn that is not rejected:

  [{"answer": [{"reasoning": "…"}, {"call": {"name": "echo", "arguments": {"text": "hello"}}}]},
   {"answer": [{"message": "Hel"}], "stop_after": 4},
   {"status": 503, "body": {"error": {"message": "Overloaded"}}}]"#;
