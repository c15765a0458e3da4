//! The settings of a gateway.

/// Declares a struct with the default of each field.
macro_rules! with_defaults {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

mod api_key;
mod authorities;
mod inspect;
mod limits;
mod metrics;
mod origin;
mod prices;
mod secret;
mod telemetry;
mod upstream;
mod webhooks;

use std::time::Duration;

use antiphon::stream::Form;
use http::HeaderName;

pub use self::api_key::{ApiKey, KeyHash};
pub use self::authorities::{Authorities, InvalidAuthorities};
pub use self::inspect::{Inspect, InspectSettings};
pub use self::limits::{Limits, Quota, Rate};
pub use self::metrics::MetricsSettings;
pub(crate) use self::origin::without_port;
pub use self::origin::{HostName, Origin};
pub use self::prices::{Price, Prices};
pub use self::secret::{Secret, SigningSecret};
pub use self::telemetry::{
    MetricExport, OtlpExporter, Propagation, Telemetry, TraceExport, TraceSampler,
};
pub use self::upstream::{
    Capabilities, EventStream, LocalModel, ModelPattern, Preset, Retries, State, UpstreamSettings,
};
pub use self::webhooks::{Allowed, Webhook, WebhookEvent};

with_defaults! {
    /// The settings of a gateway, independent of their source (flags, environment, file).
    #[derive(Clone, Debug)]
    pub struct Settings {
        /// The model that the gateway serves itself.
        pub local_model: Option<LocalModel> = None,
        /// The upstreams for all other models. The first one that matches a model's name serves it.
        pub upstreams: Vec<UpstreamSettings> = Vec::new(),
        /// The keys of callers. If empty, callers need no key. Each token that goes to an upstream
        /// is then a tenant of its own, and a token that goes to no upstream is ignored.
        pub api_keys: Vec<ApiKey> = Vec::new(),
        /// The header in which a trusted proxy names the tenant, for tokens that rotate. It
        /// excludes `api_keys`.
        pub tenant_header: Option<HeaderName> = None,
        /// The origins of web pages that may use the gateway. If the gateway listens on a loopback
        /// address and has neither `api_keys` nor a `tenant_header`, all other pages are rejected.
        pub allowed_origins: Vec<Origin> = Vec::new(),
        /// Additional host names for clients of a gateway that rejects pages. The names of this
        /// machine and of the allowed origins are always accepted.
        pub allowed_hosts: Vec<HostName> = Vec::new(),
        /// The operator's secrets, which encrypt the gateway's own key in the store. The first one
        /// encrypts, and any of them can decrypt.
        pub secrets: Vec<Secret> = Vec::new(),
        /// The handling of input that a provider would reject.
        pub faults: Faults = Faults::Repair,
        /// The maximum time that a turn waits for an open turn of its conversation.
        pub turn_wait: Duration = Duration::from_secs(30),
        /// The handling of a turn whose caller disconnects.
        pub on_disconnect: OnDisconnect = OnDisconnect::Settle,
        /// The names of events that differ between OpenAI and Open Responses.
        pub event_names: Form = Form::OpenAi,
        /// The lifetime of responses. `None` means until they are deleted. Conversations do not
        /// expire.
        pub retention: Option<Duration> = Some(Duration::from_hours(30 * 24)),
        /// The time that a shutdown waits for open turns before it settles them. The default is
        /// less than the 30 seconds after which Kubernetes kills a container.
        pub shutdown_grace: Duration = Duration::from_secs(25),
        /// The limits for callers.
        pub limits: Limits = Limits::default(),
        /// The requests outside the gateway's own routes that pass to upstreams. `None` passes all
        /// requests to an upstream that receives the caller's own token, or if there is one tenant;
        /// otherwise only requests that store nothing.
        pub pass_through: Option<PassThrough> = None,
        /// The endpoints that are notified when background responses end.
        pub webhooks: Vec<Webhook> = Vec::new(),
        /// The stored data of items that an upstream owns.
        pub ledger: Ledger = Ledger::Heads,
        /// The access to the metrics, and their labels.
        pub metrics: MetricsSettings = MetricsSettings::default(),
        /// The access to the inspector.
        pub inspect: InspectSettings = InspectSettings::default(),
        /// The prices of models.
        pub prices: Prices = Prices::default(),
        /// The handling of a failing store.
        pub store: StoreSettings = StoreSettings::default(),
        /// The export of traces and metrics.
        pub telemetry: Telemetry = Telemetry::default(),
    }
}

/// The handling of input that a provider would reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Repair it in the upstream request, and report the repair.
    Repair,
    /// Reject it with the provider's own error.
    Reject,
}

/// The handling of a turn whose caller disconnects before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisconnect {
    /// Cancel the upstream request, and store the finished items.
    Settle,
    /// Read the upstream's answer to its end, and store the whole turn.
    Finish,
}

/// The requests to forward to upstreams: those below `/v1`, except `/v1/responses`,
/// `/v1/conversations` and `/v1/models`.
///
/// If an upstream receives the operator's key, it stores objects in the operator's account: files,
/// vector stores, batches, completions. Every caller with access to these routes has access to
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassThrough {
    /// All requests.
    All,
    /// Requests that store nothing: completions, embeddings, moderations, audio, images, messages.
    Stateless,
    /// No requests.
    Nothing,
}

/// The stored part of items that an upstream owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ledger {
    /// The data to recognize an item: ids, calls, fingerprints. Never its content.
    #[default]
    Heads,
    /// Also the bytes of the items. A chain can then continue after the upstream has lost its last
    /// response.
    Bodies,
}

with_defaults! {
    /// The time for which the gateway trusts the store, and the time for which it waits for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StoreSettings {
        /// The time after a successful write for which the store counts as writable. After that, a
        /// turn writes to the store before it sends its request.
        pub trusted_for: Duration = Duration::from_secs(1),
        /// The time for which the commit of a turn is retried while the store is unavailable. If
        /// processes share the store, another one settles the turn after 15 seconds.
        pub commit_wait: Duration = Duration::from_secs(15),
    }
}
