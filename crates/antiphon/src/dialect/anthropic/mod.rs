mod stream;
pub(super) use stream::Stream;
mod request;
mod writer;
pub(super) use request::encode;
pub use writer::Writer;
pub(super) use writer::fold;
