//! The built-in model, which needs no server and no key.

use antiphon::stateful::Report;
use antiphon::stream::{Decoder, Event};
use antiphon_client::ErrorKind;
use async_trait::async_trait;
use futures_util::stream;

use super::server::request_of;
use super::{Answer, AnswerEvent, Backend, ModelError, ModelRequest};

/// The built-in model: rules that call tools and answer from the conversation alone. The same
/// request has the same answer. It stores no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sim;

/// The maximum size of one event.
const MAX_EVENT: usize = 64 << 20;

#[async_trait]
impl Backend for Sim {
    async fn respond(&self, request: ModelRequest) -> Result<Answer, ModelError> {
        if request.continuation.is_some() {
            return Err(ModelError::unsupported(
                "The built-in model stores no conversations and no responses. Use a session.",
            ));
        }
        let answer = antiphon_sim::answer(&request_of(&request));
        let mut answer = answer.map_err(|error| ErrorKind::InvalidRequest(error.to_string()))?;
        let mut decoder = Decoder::new(MAX_EVENT);
        let events = std::iter::from_fn(move || {
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) if frame.data != "[DONE]" => {
                        let kind = String::from_utf8_lossy(&frame.event).into_owned().into();
                        return Some(AnswerEvent::new(Event { kind, data: frame.data }));
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => decoder.push(&answer.next()?),
                    Err(_) => return None,
                }
            }
        });
        Ok(Answer::new(stream::iter(events), Report::default()))
    }
}
