//! Whole answers of a Responses server, built item by item.

mod answer;
mod deltas;
mod frame;
mod lifecycle;
mod output;
mod response;
mod split;

pub use answer::Answer;
pub use frame::Frame;
pub use split::Split;
