//! A client's request, decoded for its upstream.

use antiphon::Origin;
use antiphon::dialect::{
    ClientApi, ClientFault, DecodedRequest, InvalidRequest, anthropic, gemini,
};
use antiphon::json::{Object, quote};
use antiphon::repair::check;
use bytes::Bytes;
use http::HeaderMap;

use super::super::conversation_header::{named_conversation, only_conversation};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::{ClientChanges, CreateRequest, required_model};
use crate::settings::{Faults, PassThrough};
use crate::upstream::{HttpUpstream, Upstream};

/// The purpose of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An answer, in this API.
    Answer(ClientApi),
    /// A count of tokens, in this API.
    Count(ClientApi),
}

/// A request whose upstream is known.
pub(super) struct Prepared<'a> {
    purpose: Purpose,
    upstream: Upstream<'a>,
    /// The upstream and model that answer.
    origin: Origin,
    /// The stored conversation that the request continues.
    conversation: Option<String>,
    decoded: Result<DecodedRequest, InvalidRequest>,
    /// Whether the operator lets requests pass.
    may_pass: bool,
    /// Whether the gateway repairs faults, instead of leaving the rejection to the upstream.
    repairs: bool,
    /// The faults for which an upstream of the same API would reject the request.
    faults: Vec<ClientFault>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        purpose: Purpose,
        gateway: &'a Gateway,
        headers: &HeaderMap,
        fields: &Object<'_>,
    ) -> Result<Self, ApiError> {
        let model = purpose.model(fields)?;
        let upstream = gateway.upstream_for_model(&model);
        let upstream = upstream.map_err(|_| ApiError::ModelNotServed { model: model.clone() })?;
        let (api, origin) = (upstream.api(), upstream.origin(&model));
        let decoded = match purpose {
            Purpose::Count(ClientApi::Anthropic) => {
                anthropic::decode_count_request(fields, api, &origin)
            }
            Purpose::Count(ClientApi::Gemini) => gemini::decode_count_request(fields, api, &origin),
            Purpose::Answer(client) | Purpose::Count(client @ ClientApi::Chat) => {
                client.decode_request(fields, api, &origin)
            }
        };
        let client = purpose.api();
        let is_same_api = client.upstream_api() == Some(api);
        let faults = if is_same_api { client.find_faults(fields) } else { Vec::new() };
        let conversation = conversation(headers, fields)?;
        let settings = &gateway.settings;
        let may_pass = settings.pass_through != Some(PassThrough::Nothing);
        let repairs = settings.faults == Faults::Repair;
        Ok(Self { purpose, upstream, origin, conversation, decoded, may_pass, repairs, faults })
    }

    /// The client's API.
    pub(super) fn api(&self) -> ClientApi {
        self.purpose.api()
    }

    /// The upstream and model that answer.
    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The upstream that receives the request unchanged; `None` if the gateway serves it itself. An
    /// upstream of the same API also receives a request that cannot be decoded.
    pub(super) fn unchanged_for(&self) -> Option<&'a HttpUpstream> {
        let Upstream::Http(http) = self.upstream else { return None };
        let is_same_api = self.api().upstream_api() == Some(self.upstream.api());
        let has_faults = !self.faults.is_empty()
            || self.decoded.as_ref().is_ok_and(|decoded| !check(&decoded.items).is_empty());
        let needs_repair = self.repairs && has_faults;
        let passes = self.may_pass && is_same_api && self.conversation.is_none() && !needs_repair;
        passes.then_some(http)
    }

    /// Whether the request continues a stored conversation.
    pub(super) fn continues_conversation(&self) -> bool {
        self.conversation.is_some()
    }

    /// Whether the gateway repairs the calls of an answer to the unchanged request.
    pub(super) fn repairs_calls(&self, fields: &Object<'_>) -> bool {
        self.repairs && fields.present("tools").is_some()
    }

    /// The request of the Responses API. `json` is the client's body, which identifies a retry.
    ///
    /// A response outside a conversation is not stored, because its client never asks for it again.
    pub(super) fn into_request(
        self,
        gateway: &Gateway,
        headers: &HeaderMap,
        json: &Bytes,
    ) -> Result<CreateRequest, ApiError> {
        let mut decoded = self.decoded?;
        let omissions = std::mem::take(&mut decoded.omissions);
        let derived_call_ids = std::mem::take(&mut decoded.derived_call_ids);
        let body = match self.conversation {
            Some(id) => decoded.to_body(&[("conversation", &quote(&id))]),
            None => decoded.to_body(&[("store", "false")]),
        };
        let identity = gateway.digest_key.identify(headers, json)?;
        let limits = &gateway.settings.limits;
        let request = match self.purpose {
            Purpose::Answer(_) => CreateRequest::parse(&body, identity, limits),
            Purpose::Count(_) => CreateRequest::parse_counted(&body, identity, limits, None),
        };
        let changes = ClientChanges::new(self.faults, omissions);
        let request = request?.sent_by(headers).with_client_changes(changes);
        Ok(request.with_derived_call_ids(derived_call_ids))
    }
}

impl Purpose {
    fn api(self) -> ClientApi {
        match self {
            Self::Answer(api) | Self::Count(api) => api,
        }
    }

    /// The model that the request names.
    fn model(self, fields: &Object<'_>) -> Result<String, ApiError> {
        required_model(fields).map_err(|error| match (self.api(), error) {
            (ClientApi::Anthropic, ApiError::MissingParameter { .. }) => {
                InvalidRequest::missing("model", "model: Field required").into()
            }
            (_, error) => error,
        })
    }
}

/// The stored conversation that the request continues: the header's, or that in the metadata. The
/// decoders reject one that is no text.
fn conversation(headers: &HeaderMap, fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let metadata = fields.present("metadata").map(Object::parse_str).and_then(Result::ok);
    let named = metadata.as_ref().and_then(|metadata| metadata.string("conversation"));
    let named = named.map(std::borrow::Cow::into_owned);
    only_conversation(named_conversation(headers), named, "metadata.conversation")
}
