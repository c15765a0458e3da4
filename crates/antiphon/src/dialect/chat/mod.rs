mod stream;
pub(super) use stream::Stream;
mod request;
pub(super) use request::encode;
