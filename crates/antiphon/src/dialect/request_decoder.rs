//! The state of the decoder of a client's request: the fields so far, and the omissions.

use std::collections::BTreeSet;

use super::request::{Omission, RequestPath};
use super::{DecodedRequest, UpstreamApi};
use crate::item::Item;
use crate::json::{Object, quote};

/// The minimum of `max_output_tokens` in the Responses API.
const LEAST_OUTPUT: u64 = 16;

/// The fields of the Responses API so far, and the omissions.
pub(super) struct RequestDecoder {
    /// The API of the upstream that the request is for.
    pub(super) upstream: UpstreamApi,
    fields: Object<'static>,
    omissions: Vec<Omission>,
}

impl RequestDecoder {
    pub(super) fn new(upstream: UpstreamApi) -> Self {
        Self { upstream, fields: Object::default(), omissions: Vec::new() }
    }

    /// Whether the upstream has this API. If it is the client's, the encoder sends fields unchanged
    /// that the Responses API does not have.
    pub(super) fn is_for(&self, api: UpstreamApi) -> bool {
        self.upstream == api
    }

    pub(super) fn set_raw(&mut self, key: impl Into<String>, raw: impl Into<String>) {
        self.fields.set(key.into(), raw.into());
    }

    pub(super) fn set_text(&mut self, key: &'static str, text: &str) {
        self.fields.set(key, quote(text));
    }

    /// Sets the limit of the output, which is at `path` of the client's request. Only upstreams of
    /// the Responses API have a minimum: others receive a smaller limit in a field of their own.
    pub(super) fn limit_output(&mut self, path: &str, limit: u64) {
        match self.upstream {
            _ if limit >= LEAST_OUTPUT => self.set_raw("max_output_tokens", limit.to_string()),
            UpstreamApi::Responses => {
                self.set_raw("max_output_tokens", LEAST_OUTPUT.to_string());
                self.change(path, "the minimum of the upstream is 16");
            }
            UpstreamApi::Chat => self.set_raw("max_completion_tokens", limit.to_string()),
            UpstreamApi::Anthropic => self.set_raw("max_tokens", limit.to_string()),
        }
    }

    /// Reports that the value at `path` is left out.
    pub(super) fn leave_out(&mut self, path: &str, why: &str) {
        self.report(path, format!("'{path}' is left out: {why}"));
    }

    /// Reports that the value at `path` is sent in another form.
    pub(super) fn change(&mut self, path: &str, how: &str) {
        self.report(path, format!("'{path}' is changed: {how}"));
    }

    fn report(&mut self, path: &str, message: String) {
        self.omissions.push(Omission { place: RequestPath::field(path), message });
    }

    /// The request with these items.
    pub(super) fn finish(self, items: Vec<Item>) -> DecodedRequest {
        let (fields, omissions) = (self.fields.to_text(), self.omissions);
        DecodedRequest { fields, items, omissions, derived_call_ids: BTreeSet::new() }
    }
}
