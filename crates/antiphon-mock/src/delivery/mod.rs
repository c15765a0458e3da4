//! The delivery of replies over HTTP, chunk by chunk.

mod connections;
mod deliver;
mod exchange;
mod hold;
mod reply;

pub use connections::{serve, serve_each};
pub use deliver::{Witness, deliver};
pub use exchange::{Exchange, Outcome};
pub use hold::Hold;
pub use reply::Reply;
