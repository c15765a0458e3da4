//! The shared state of the routes.

use std::io;
use std::sync::Arc;

use antiphon::item::FingerprintKey;
use antiphon_store::{ConversationId, Store, Tenant};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::{Authenticator, RefusedCallers, TENANT_NAMES};
use crate::changes::Changes;
use crate::compaction::CompactionKey;
use crate::entropy::from_now;
use crate::error::ApiError;
use crate::jobs::Jobs;
use crate::lease::{Lease, Leases};
use crate::limits::{Limiter, Quotas};
use crate::metrics::{Metrics, Sample};
use crate::open_turns::OpenTurns;
use crate::otlp::{self, MetricExporter};
use crate::refused_turns::RefusedTurns;
use crate::request::DigestKey;
use crate::retry::{DelaysUntil, RetryPolicy};
use crate::seal::SealKey;
use crate::secret::MasterKey;
use crate::settings::Settings;
use crate::span::Tracer;
use crate::store_health::StoreReadiness;
use crate::store_health::WriteCheck;
use crate::upstream::{Upstream, Upstreams};
use crate::watches::Watches;
use crate::webhooks::Webhooks;

/// The shared state of the routes.
pub(crate) struct Gateway {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) metrics: Metrics,
    /// Whether the store accepts writes.
    pub(crate) write_check: WriteCheck,
    pub(crate) upstreams: Upstreams,
    pub(crate) authenticator: Authenticator,
    pub(crate) refused_callers: RefusedCallers,
    pub(crate) fingerprint_key: FingerprintKey,
    pub(crate) limiter: Limiter,
    /// The store checks of `/readyz`.
    pub(crate) readiness: StoreReadiness,
    /// Open turns. They can outlive their connections.
    pub(crate) turns: TaskTracker,
    /// Cancelled when a shutdown starts: new requests are rejected.
    pub(crate) stopping: CancellationToken,
    /// Cancelled at the end of the grace period: open turns end as after a disconnect.
    pub(crate) closing: CancellationToken,
    /// Notified when a conversation is deleted.
    pub(crate) open_turns: OpenTurns,
    /// Announces the begin and the end of each turn.
    pub(crate) changes: Changes,
    /// The latest turns that left no response.
    pub(crate) refused_turns: RefusedTurns,
    /// The background responses that this process runs.
    pub(crate) jobs: Jobs,
    /// The leases on conversations, responses and requests.
    pub(crate) leases: Leases,
    /// Watches of background responses that run at upstreams.
    pub(crate) watches: Watches,
    /// The endpoints that are notified when responses end.
    pub(crate) webhooks: Webhooks,
    /// The key for digests that identify requests.
    pub(crate) digest_key: DigestKey,
    /// The key that encrypts compactions.
    pub(crate) compaction_key: Arc<CompactionKey>,
    /// Starts the spans of requests.
    pub(crate) tracer: Tracer,
    /// Exports the metrics, if the settings have a receiver.
    pub(crate) metric_exporter: Option<MetricExporter>,
    /// The key that encrypts copies of turns that an upstream may have lost.
    pub(crate) copy_key: SealKey,
}

impl Gateway {
    pub(crate) async fn new(settings: Settings, store: Arc<dyn Store>) -> io::Result<Self> {
        let master = MasterKey::load(&*store, &settings.secrets).await?;
        let authenticator = Authenticator::new(&settings, &master.derive(TENANT_NAMES))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let has_ledgers = store.ledgers().has_any().await.map_err(io::Error::other)?;
        let turns = TaskTracker::new();
        let metrics = Metrics::new(settings.metrics.names_tenants);
        store.set_observer(metrics.store_observer());
        let max_connections = settings.limits.max_connections;
        metrics.open.max_connections.set(i64::try_from(max_connections).unwrap_or(i64::MAX));
        let (tracer, metric_exporter) = otlp::start(&settings.telemetry)?;
        let write_check = WriteCheck::new(settings.store.trusted_for);
        // Loading the gateway's own key has just written to the store.
        write_check.record(&Ok(()));
        Ok(Self {
            upstreams: Upstreams::new(&settings, has_ledgers, &metrics.upstreams),
            authenticator,
            refused_callers: RefusedCallers::default(),
            fingerprint_key: master.fingerprint_key(),
            digest_key: DigestKey::new(&master.derive("digests of requests")),
            tracer,
            metric_exporter,
            compaction_key: Arc::new(CompactionKey::new(&master.derive("compactions"))),
            copy_key: SealKey::new(&master.derive("copies of turns"), "antiphon-turn-1."),
            limiter: Limiter::new(&settings.limits),
            webhooks: Webhooks::new(&settings.webhooks)
                .map_err(|flaw| io::Error::new(io::ErrorKind::InvalidInput, flaw))?,
            watches: Watches::default(),
            readiness: StoreReadiness::default(),
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
            open_turns: OpenTurns::default(),
            changes: Changes::default(),
            refused_turns: RefusedTurns::default(),
            jobs: Jobs::new(metrics.open.background.clone()),
            leases: Leases::new(
                Arc::clone(&store),
                turns.clone(),
                settings.turn_wait,
                metrics.queue.clone(),
            ),
            metrics,
            turns,
            settings,
            store,
            write_check,
        })
    }

    /// Fails with status 503 if the store accepts no writes, so that no turn starts in vain.
    pub(crate) async fn check_store(&self) -> Result<(), ApiError> {
        Ok(self.write_check.check(&*self.store).await?)
    }

    /// Exports the metrics at each interval, and never returns.
    pub(crate) async fn export_metrics(&self) {
        match &self.metric_exporter {
            Some(exporter) => exporter.run(|| self.metrics.gather(self.sample())).await,
            None => std::future::pending().await,
        }
    }

    /// Exports the last metrics and spans.
    pub(crate) async fn flush_telemetry(&self) {
        if let Some(exporter) = &self.metric_exporter {
            exporter.flush(&self.metrics.gather(self.sample())).await;
        }
        if let Err(reason) = self.tracer.shut_down().await {
            tracing::warn!(reason, "could not export the last spans");
        }
    }

    /// The values that are read when the metrics are.
    pub(crate) fn sample(&self) -> Sample {
        Sample { store: self.store.load(), store_is_writable: self.write_check.is_writable() }
    }

    /// The quotas for stored items.
    pub(crate) fn quotas(&self) -> Quotas<'_> {
        Quotas { limits: &self.settings.limits, store: &*self.store }
    }

    /// The upstream that serves `model`.
    pub(crate) fn upstream_for_model(&self, model: &str) -> Result<Upstream<'_>, ApiError> {
        self.upstreams
            .for_model(model)
            .ok_or_else(|| ApiError::ModelNotFound { path: "model", model: model.into() })
    }

    /// Waits for the exclusive right to run a turn of a conversation.
    pub(crate) async fn lease(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
    ) -> Result<Lease, ApiError> {
        let lease = self.leases.lease_conversation(tenant, id).await?;
        lease.ok_or(ApiError::ConversationLocked)
    }
}

/// The pauses between attempts at a store operation that a caller waits for.
pub(crate) struct StoreAttempts<'a> {
    gateway: &'a Gateway,
    delays: DelaysUntil,
}

impl<'a> StoreAttempts<'a> {
    /// Allows attempts for as long as the settings let a commit wait.
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        let end = from_now(gateway.settings.store.commit_wait);
        Self { gateway, delays: DelaysUntil::new(end, RetryPolicy::COMMIT) }
    }

    /// Waits before the next attempt. Returns `false` if the time is over or the gateway
    /// is closing.
    pub(crate) async fn pause(&mut self) -> bool {
        let Some(delay) = self.delays.next(Instant::now()) else { return false };
        tokio::select! {
            () = sleep(delay) => true,
            () = self.gateway.closing.cancelled() => false,
        }
    }
}
