//! The resource of all telemetry: this process.

use antiphon::IdSource as _;
use antiphon::item::push_hex;
use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::resource::v1::Resource as Message;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::TelemetryResourceDetector;

use super::families::attribute;
use crate::entropy::RandomIds;

/// The attribute that distinguishes processes of one service.
const INSTANCE: &str = "service.instance.id";

/// The attributes of the resource. Traces and metrics of a process have the same.
pub(super) struct Attributes(Vec<(String, String)>);

impl Attributes {
    /// These attributes, and an id of this process unless they have one.
    pub(super) fn of_process(given: &[(String, String)]) -> Self {
        let mut attributes = given.to_vec();
        if !attributes.iter().any(|(name, _)| name == INSTANCE) {
            attributes.push((INSTANCE.to_owned(), issue_instance()));
        }
        Self(attributes)
    }

    /// The resource with these attributes and those of the SDK.
    pub(super) fn resource(&self) -> Resource {
        let given = self.0.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
        Resource::builder_empty()
            .with_detector(Box::new(TelemetryResourceDetector))
            .with_attributes(given)
            .build()
    }

    /// The same resource in the form of the protocol.
    pub(super) fn message(&self) -> Message {
        let resource = self.resource();
        let attributes =
            resource.iter().map(|(key, value)| attribute(key.as_str(), &value.as_str()));
        Message { attributes: attributes.collect(), ..Message::default() }
    }
}

/// A random id.
fn issue_instance() -> String {
    let mut random = [0; 16];
    RandomIds.fill(&mut random);
    let mut id = String::new();
    push_hex(&mut id, &random);
    id
}
