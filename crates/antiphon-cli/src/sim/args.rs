//! What the command is told.

use std::path::PathBuf;

use clap::Args;

/// How the provider behaves that `sim` plays. The texts are understood in `sim` itself.
#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// Refuse what OpenAI would refuse, in its words; without this, nothing that is sent is held
    /// against what is kept
    #[arg(long)]
    pub(crate) strict: bool,
    /// The IP address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8485")]
    pub(crate) listen: String,
    /// Which provider to play: openai, azure (no conversations) or open-responses (chains alone)
    #[arg(long, value_name = "NAME", default_value = "openai")]
    pub(crate) profile: String,
    /// What is kept of a turn whose caller leaves: part, whole or nothing
    #[arg(long, value_name = "WHAT", default_value = "part")]
    pub(crate) on_abort: String,
    /// Answers to give before the model goes on by itself: a JSON array
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}

pub(crate) const SIM: &str = r#"A provider of the Responses and Conversations API to test agents against: it keeps conversations,
responses and items, each for the bearer token that it came with, and nothing outlives the process.

Its model knows what it was given and no more. It says "Noted.", answers questions about a color and
a dog from what the user said ("My color is purple"), calls a tool that the user names ("Echo hello"
with a tool echo; twice, if the text says so), and says what tools gave back.

  GET  /log?token=X                    every request, its refusal, what the model was given, and what
                                       it was given twice
  POST /hold?token=X&at=PLACE          stop the next streamed answer to that token: head, in_reasoning,
                                       in_arguments, behind_call or in_text
  POST /on-abort?outcome=WHAT          as --on-abort, from now on
  POST /lose?response=ID               forget a response, as if it had expired

A script is an array of answers, each given to the next turn that is not refused:

  [{"answer": [{"reasoning": "…"}, {"call": {"name": "echo", "arguments": {"text": "hello"}}}]},
   {"answer": [{"message": "Hel"}], "stop_after": 4},
   {"status": 503, "body": {"error": {"message": "Overloaded"}}}]"#;
