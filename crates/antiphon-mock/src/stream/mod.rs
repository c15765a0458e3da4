//! Complete answers of a model, built item by item, in the form of each API.

mod answer;
mod anthropic;
mod chat;
mod deltas;
mod frame;
mod lifecycle;
mod output;
mod response;

pub use answer::Answer;
pub use anthropic::AnthropicAnswer;
pub use chat::ChatAnswer;
pub use deltas::Split;
pub use frame::Frame;
pub(crate) use response::CREATED_AT;
