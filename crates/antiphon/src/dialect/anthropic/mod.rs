mod stream;
pub(super) use stream::Stream;
mod request;
mod writer;
pub(super) use request::encode;
pub(super) use writer::Writer;
pub(super) use writer::fold;
