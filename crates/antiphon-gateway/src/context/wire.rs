//! The form in which the items were sent to their upstream.

use std::borrow::Cow;

use antiphon::dialect::with_placeholder_reasoning;
use antiphon::json::Object;
use antiphon::{HeldItem, Item, Origin};
use bytes::Bytes;

use super::{Context, RepairReason};
use crate::gateway::Gateway;
use crate::turn::{encode_for_api, without_rejected_status};
use crate::upstream::Upstream;

/// The parts of a translated request that depend on its items, instructions and tools.
const TRANSLATED: [&str; 4] = ["system", "messages", "tools", "tool_choice"];

/// The upstream of a turn, and the model that was asked.
struct Target<'a> {
    upstream: Upstream<'a>,
    origin: Origin,
}

impl Context {
    /// Converts the items to the form in which the upstream received them. `output` are the items
    /// of the answer, which name the upstream.
    pub(super) fn encode(&mut self, gateway: &Gateway, output: &[HeldItem]) {
        let Some(target) = self.find_target(gateway, output) else { return };
        let api = target.upstream.api();
        (self.upstream, self.api) = (Some(target.upstream.label().to_owned()), Some(api.name()));
        match api.encoder() {
            None => self.remove_rejected_status(),
            Some(_) => self.translation = self.translate(&target),
        }
    }

    fn remove_rejected_status(&mut self) {
        for item in self.items.iter_mut().filter_map(|item| item.item.as_mut()) {
            if let Cow::Owned(changed) = without_rejected_status(item) {
                *item = changed;
            }
        }
    }

    /// The upstream that made the output or, without output, the one that serves the model now.
    fn find_target<'g>(&self, gateway: &'g Gateway, output: &[HeldItem]) -> Option<Target<'g>> {
        let origin = output.iter().find_map(|held| held.origin.clone());
        let made = origin.and_then(|origin| {
            let upstream = gateway.upstreams.for_origin(&origin)?;
            Some(Target { upstream, origin })
        });
        made.or_else(|| {
            let fields = Object::parse_str(&self.fields).ok()?;
            let model = fields.string("model")?;
            let upstream = gateway.upstreams.for_model(&model)?;
            Some(Target { upstream, origin: upstream.origin(&model) })
        })
    }

    /// The messages and tools of the request in the upstream's API. `None` if an item is not here.
    fn translate(&self, target: &Target<'_>) -> Option<Bytes> {
        let items = self.items.iter().map(|item| item.item.clone());
        let items: Vec<Item> = items.collect::<Option<_>>()?;
        let fields = Object::parse_str(&self.fields).ok()?;
        let encoder = target.upstream.api().encoder()?;
        let body = encode_for_api(encoder, fields, &items, &target.origin)?;
        let placed = self.has_placeholder_reasoning().then(|| with_placeholder_reasoning(&body));
        let body = placed.flatten().map_or(body, |(body, _)| body);
        let body = Object::parse(&body).ok()?;
        let parts = body.iter().filter(|(key, _)| TRANSLATED.contains(key));
        Some(parts.collect::<Object<'_>>().to_bytes())
    }

    /// Whether calls were sent with a placeholder for their reasoning.
    fn has_placeholder_reasoning(&self) -> bool {
        let is_placed = |reason: &RepairReason| {
            reason.fault == "missing_reasoning" && reason.action == "stood_in"
        };
        self.repairs.iter().any(is_placed)
    }
}
