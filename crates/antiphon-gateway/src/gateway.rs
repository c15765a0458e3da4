//! What the routes share.

use std::io;
use std::sync::Arc;

use antiphon::item::FingerprintKey;
use antiphon_store::{ConversationId, Store, Tenant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::{Authenticator, NAMES, RefusedCallers};
use crate::background::Jobs;
use crate::compaction::CompactionKey;
use crate::error::ApiError;
use crate::lease::{Lease, Leases};
use crate::limits::Limiter;
use crate::open_turns::OpenTurns;
use crate::readiness::Readiness;
use crate::request::DigestKey;
use crate::secret::MasterKey;
use crate::settings::Settings;
use crate::upstream::{Upstream, Upstreams};
use crate::watcher::Watcher;
use crate::webhooks::Webhooks;
use crate::write_check::WriteCheck;

/// Everything that the routes share.
pub(crate) struct Gateway {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// Whether the store takes writes.
    pub(crate) write_check: WriteCheck,
    pub(crate) upstreams: Upstreams,
    pub(crate) authenticator: Authenticator,
    pub(crate) refused_callers: RefusedCallers,
    pub(crate) fingerprint_key: FingerprintKey,
    pub(crate) limiter: Limiter,
    /// What `/readyz` knows of the store.
    pub(crate) readiness: Readiness,
    /// Open turns. They outlive their connections.
    pub(crate) turns: TaskTracker,
    /// Cancelled when a stop begins: new requests are refused.
    pub(crate) stopping: CancellationToken,
    /// Cancelled when a stop will wait no longer: open turns end as if their callers had left.
    pub(crate) closing: CancellationToken,
    /// Told when a conversation is deleted.
    pub(crate) open_turns: OpenTurns,
    /// The background responses that are worked on here.
    pub(crate) jobs: Jobs,
    /// Who works on what.
    pub(crate) leases: Leases,
    /// Responses in upstreams' own background whose end is awaited.
    pub(crate) watcher: Watcher,
    /// Who is told of responses' ends.
    pub(crate) webhooks: Webhooks,
    /// Keys the digests that requests are known by.
    pub(crate) digest_key: DigestKey,
    /// Seals compactions.
    pub(crate) compaction_key: Arc<CompactionKey>,
}

impl Gateway {
    pub(crate) async fn new(settings: Settings, store: Arc<dyn Store>) -> io::Result<Self> {
        let master = MasterKey::of(&*store, &settings.secrets).await?;
        let authenticator = Authenticator::new(&settings, master.derive(NAMES))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut key = [0; 16];
        key.copy_from_slice(&master.derive("fingerprints of items")[..16]);
        let has_ledgers = store.ledgers().any().await.map_err(io::Error::other)?;
        let turns = TaskTracker::new();
        let write_check = WriteCheck::new(settings.store.trusted_for);
        // The gateway's own key has just been kept.
        write_check.note(&Ok(()));
        Ok(Self {
            upstreams: Upstreams::new(&settings, has_ledgers),
            authenticator,
            refused_callers: RefusedCallers::default(),
            fingerprint_key: FingerprintKey::new(key),
            digest_key: DigestKey::new(&master.derive("digests of requests")),
            compaction_key: Arc::new(CompactionKey::new(&master.derive("compactions"))),
            limiter: Limiter::new(&settings.limits),
            webhooks: Webhooks::new(&settings.webhooks)
                .map_err(|flaw| io::Error::new(io::ErrorKind::InvalidInput, flaw))?,
            watcher: Watcher::default(),
            readiness: Readiness::default(),
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
            open_turns: OpenTurns::default(),
            jobs: Jobs::default(),
            leases: Leases::new(Arc::clone(&store), turns.clone(), settings.turn_wait),
            turns,
            settings,
            store,
            write_check,
        })
    }

    /// Fails with status 503 if the store takes no writes, so that nothing is begun in vain.
    pub(crate) async fn check_store(&self) -> Result<(), ApiError> {
        Ok(self.write_check.check(&*self.store).await?)
    }

    /// Who answers for `model`.
    pub(crate) fn upstream_of(&self, model: &str) -> Result<Upstream<'_>, ApiError> {
        self.upstreams.of_model(model).ok_or_else(|| ApiError::model_not_found(model))
    }

    /// The right to be the one open turn of a conversation.
    pub(crate) async fn lease(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Lease, ApiError> {
        let lease = self.leases.conversation(tenant, id).await?;
        lease.ok_or_else(ApiError::conversation_locked)
    }
}
