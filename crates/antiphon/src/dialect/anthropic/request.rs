use crate::dialect::request::{Encoded, Place, Request, Unsupported};

pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let _ = request;
    Err(Unsupported { place: Place::field("model"), message: "not there yet".into() })
}
