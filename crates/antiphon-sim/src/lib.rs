#![doc = include_str!("rules.md")]

mod arguments;
mod context;
mod decide;
mod envelope;
mod error;
mod evidence;
mod ids;
mod item;
mod mention;
mod numbers;
mod phrases;
mod places;
mod recall;
mod reply;
mod request;
mod scalar;
mod schema;
mod stream;
mod style;
mod text;
mod tools;

#[cfg(test)]
mod tests;

use bytes::Bytes;

use decide::{Turn, decide};
use envelope::{Ending, Usage};
pub use error::SimError;
use request::Request;
use stream::Stream;

/// The name of the model.
pub const NAME: &str = "sim";

/// The context window in tokens. The model has no real limit; this value is typical of large
/// models.
pub const CONTEXT_WINDOW: u64 = 1_000_000;

/// Answers one encoded Responses request with a whole event stream.
///
/// The answer is a function of the request's bytes: the model has no clock, no randomness and no
/// memory between calls. Errors have the texts that a provider would send with status 400.
pub fn answer(request: &[u8]) -> Result<Answer, SimError> {
    let request = Request::read(request)?;
    let frames = match decide(&request)? {
        Turn::Calls(calls) => call(&request, &calls),
        Turn::Reply(reply) => say(&request, &reply.written(&request.format)?),
    };
    Ok(Answer(frames.into_iter()))
}

/// Like [`answer`], for a server that knows no type of this crate: the error is its text.
pub fn event_stream(request: &[u8]) -> Result<Box<dyn Iterator<Item = Bytes> + Send>, String> {
    match answer(request) {
        Ok(frames) => Ok(Box::new(frames)),
        Err(error) => Err(error.to_string()),
    }
}

/// The frames of one event stream: each `event: T\ndata: {json}\n\n`, the last `data: [DONE]\n\n`.
#[derive(Debug)]
pub struct Answer(std::vec::IntoIter<Bytes>);

impl Iterator for Answer {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// One reasoning item, followed by the calls.
fn call(request: &Request<'_>, calls: &[decide::Call<'_>]) -> Vec<Bytes> {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.name.as_str()).collect();
    let summary = format!("Calling {}.", names.join(" and "));
    let mut stream = Stream::open(request);
    stream.reasoning(&summary, request.encrypted_reasoning);
    for call in calls {
        stream.call(call);
    }
    let reasoning = text::chunks(&summary).len();
    let inputs: usize = calls.iter().map(|call| text::chunks(&call.input).len()).sum();
    let usage =
        Usage { input: request.context.word_count(), reasoning, output: reasoning + inputs };
    stream.close(Ending::Completed, usage)
}

/// One message, cut after the number of words that the request allows.
fn say(request: &Request<'_>, text: &str) -> Vec<Bytes> {
    let words = text::chunks(text);
    let allowed = request.max_output_tokens.unwrap_or(usize::MAX);
    let ending = if words.len() > allowed { Ending::CutShort } else { Ending::Completed };
    let said = &words[..words.len().min(allowed)];
    let mut stream = Stream::open(request);
    stream.message(said, request.phase(), ending);
    let usage = Usage { input: request.context.word_count(), reasoning: 0, output: said.len() };
    stream.close(ending, usage)
}
