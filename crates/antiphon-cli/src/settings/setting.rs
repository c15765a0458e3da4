//! The names of the settings.

/// A setting. One name gives its flag, its environment variable and its key in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    Listen,
    Store,
    Upstream,
    UpstreamApi,
    UpstreamKey,
    State,
    Ledger,
    Faults,
    ApiKeys,
    TenantHeader,
    AllowOrigins,
    AllowHosts,
    Secrets,
    TurnWait,
    OnDisconnect,
    EventNames,
    Retention,
    ShutdownGrace,
    MaxOpenTurns,
    RequestsPerSecond,
    MaxTenantBytes,
    MaxTenantItems,
    MaxConversationBytes,
    MaxConversationItems,
    PassThrough,
}

impl Setting {
    pub(super) const ALL: [Self; 25] = [
        Self::Listen,
        Self::Store,
        Self::Upstream,
        Self::UpstreamApi,
        Self::UpstreamKey,
        Self::State,
        Self::Ledger,
        Self::Faults,
        Self::ApiKeys,
        Self::TenantHeader,
        Self::AllowOrigins,
        Self::AllowHosts,
        Self::Secrets,
        Self::TurnWait,
        Self::OnDisconnect,
        Self::EventNames,
        Self::Retention,
        Self::ShutdownGrace,
        Self::MaxOpenTurns,
        Self::RequestsPerSecond,
        Self::MaxTenantBytes,
        Self::MaxTenantItems,
        Self::MaxConversationBytes,
        Self::MaxConversationItems,
        Self::PassThrough,
    ];

    /// The flag, as in `--turn-wait`.
    pub(super) fn flag(self) -> String {
        format!("--{}", self.name())
    }

    /// The environment variable, as in `ANTIPHON_TURN_WAIT`.
    pub(super) fn variable(self) -> String {
        format!("ANTIPHON_{}", self.name().replace('-', "_").to_uppercase())
    }

    /// The key in the file, as in `turn-wait`. The name of a list is plural there: a flag gives a
    /// single entry, and the file the whole list.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::ApiKeys => "api-keys",
            Self::AllowOrigins => "allow-origins",
            Self::AllowHosts => "allow-hosts",
            Self::Secrets => "secrets",
            other => other.name(),
        }
    }

    /// Whether the setting is a list.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::ApiKeys | Self::Secrets | Self::AllowOrigins | Self::AllowHosts)
    }

    /// Whether the setting belongs to `[limits]` in the file.
    pub(super) fn is_limit(self) -> bool {
        matches!(
            self,
            Self::MaxOpenTurns
                | Self::RequestsPerSecond
                | Self::MaxTenantBytes
                | Self::MaxTenantItems
                | Self::MaxConversationBytes
                | Self::MaxConversationItems
        )
    }

    fn name(self) -> &'static str {
        match self {
            Self::Listen => "listen",
            Self::Store => "store",
            Self::Upstream => "upstream",
            Self::UpstreamApi => "upstream-api",
            Self::UpstreamKey => "upstream-key",
            Self::State => "state",
            Self::Ledger => "ledger",
            Self::Faults => "faults",
            Self::ApiKeys => "api-key",
            Self::TenantHeader => "tenant-header",
            Self::AllowOrigins => "allow-origin",
            Self::AllowHosts => "allow-host",
            Self::Secrets => "secret",
            Self::TurnWait => "turn-wait",
            Self::OnDisconnect => "on-disconnect",
            Self::EventNames => "event-names",
            Self::Retention => "retention",
            Self::ShutdownGrace => "shutdown-grace",
            Self::MaxOpenTurns => "max-open-turns",
            Self::RequestsPerSecond => "requests-per-second",
            Self::MaxTenantBytes => "max-tenant-bytes",
            Self::MaxTenantItems => "max-tenant-items",
            Self::MaxConversationBytes => "max-conversation-bytes",
            Self::MaxConversationItems => "max-conversation-items",
            Self::PassThrough => "pass-through",
        }
    }
}
