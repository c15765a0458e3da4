mod stream;
pub(super) use stream::Stream;
