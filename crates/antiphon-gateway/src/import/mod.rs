//! Imports conversations into a tenant: from an [`export`](crate::export), or from lists of items.
//!
//! Every file is read and checked before the first write. Then each object (a conversation, a
//! response) is written in one transaction, with a bounded part of its items in memory. Objects
//! that the store has already stay as they are, so an interrupted import can be repeated.

mod export_file;
mod flaw;
mod item_list;
mod line;
mod pages;
mod report;
mod room;
mod values;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon::HeldItem;
use antiphon::item::FingerprintKey;
use antiphon::json::Object;
use antiphon_store::{
    Conversation, ConversationId, Restored, RestoredObject, Seq, Store, StoreError, Tenant,
    ThreadRecord, item_feed,
};

use self::export_file::{Content, Entry, ExportFile};
pub use self::flaw::Flaw;
pub use self::item_list::ListOrder;
use self::item_list::{Checks, ItemList};
pub use self::report::{Counts, Refusal, Report};
use self::room::Room;
use self::values::Values;
use crate::compaction::CompactionKey;
use crate::entropy::unix_now;
use crate::secret::MasterKey;
use crate::settings::{Limits, Secret};

/// The maximum number of items in one batch, and of their bytes, unless a single item has more.
const BATCH_ITEMS: usize = 256;
const BATCH_BYTES: usize = 4 << 20;

/// The reason why an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file is invalid. Nothing was written, unless the file changed during the import.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// The store failed. The objects before the failure are imported.
    #[error("{0}; start the import again to complete it")]
    Store(#[from] StoreError),
}

/// The content of the files of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// An export of a tenant.
    Export,
    /// Parts of one list of items.
    Items,
}

impl Contents {
    /// Reads the first value of a file.
    pub fn detect(path: &Path) -> Result<Self, Flaw> {
        let first = Values::open(path)?.next()?;
        let text = first.map(|value| value.text).unwrap_or_default();
        let object = Object::parse(&text).ok();
        let kind = object.as_ref().and_then(|object| object.string("object"));
        Ok(if kind.as_deref() == Some("export") { Self::Export } else { Self::Items })
    }
}

/// Creates the gateway's key in a new store, and checks that `secrets` open that of any other.
pub async fn prepare(store: &dyn Store, secrets: &[Secret]) -> io::Result<()> {
    MasterKey::load(store, secrets).await.map(drop)
}

/// Imports files into a tenant.
pub struct Importer {
    store: Arc<dyn Store>,
    tenant: Tenant,
    limits: Limits,
    fingerprint_key: FingerprintKey,
    compaction_key: CompactionKey,
}

impl Importer {
    /// Loads the gateway's key from the store, or creates it. The quotas of `limits` apply.
    pub async fn new(
        store: Arc<dyn Store>,
        tenant: Tenant,
        secrets: &[Secret],
        limits: Limits,
    ) -> io::Result<Self> {
        let master = MasterKey::load(&*store, secrets).await?;
        let fingerprint_key = master.fingerprint_key();
        let compaction_key = CompactionKey::new(&master.derive("compactions"));
        Ok(Self { store, tenant, limits, fingerprint_key, compaction_key })
    }

    /// Imports an export.
    pub async fn import_export(&self, path: &Path) -> Result<Report, ImportError> {
        check_export(path, self.fingerprint_key)?;
        let mut report = Report::new(self.tenant.as_str());
        let before = self.store.usage(&self.tenant).await?;
        let mut file = ExportFile::open(path, self.fingerprint_key)?;
        let mut refused = HashSet::new();
        while let Some(entry) = file.next_entry()? {
            self.restore(&mut file, entry, &mut refused, &mut report).await?;
        }
        self.count_items(before, &mut report).await?;
        Ok(report)
    }

    /// Imports a list of items as one conversation. Without an id, the conversation gets one that
    /// depends only on the content of the files.
    pub async fn import_items(
        &self,
        files: &[PathBuf],
        conversation: Option<ConversationId>,
        order: Option<ListOrder>,
    ) -> Result<Report, ImportError> {
        let checks = Checks {
            limits: &self.limits,
            compactions: &self.compaction_key,
            tenant: &self.tenant,
        };
        let list = ItemList::read(files, order, checks)?;
        let id = conversation.unwrap_or_else(|| list.conversation_id());
        let mut report = Report::new(self.tenant.as_str());
        report.conversation = Some(id.to_string());
        report.newest_first = Some(list.order == ListOrder::Descending);
        let before = self.store.usage(&self.tenant).await?;
        let thread = ThreadRecord {
            shard: id.shard(),
            thread: list.thread_id(&id),
            lineage: Vec::new(),
            tip: list.len(),
            is_named: true,
        };
        let conversation =
            Conversation { id: id.clone(), created_at: unix_now(), metadata: "{}".into() };
        let object = RestoredObject::Conversation { conversation, binds_late: false };
        let mut items = list.items(id.clone(), self.fingerprint_key);
        match self.write(thread, object, || items.next_items()).await? {
            Ok(restored) => report.add("conversation", restored),
            Err(reason) => {
                let (id, line) = (id.to_string(), list.first_line());
                report.refuse(Refusal { object: "conversation", id, line, reason });
            }
        }
        self.count_items(before, &mut report).await?;
        Ok(report)
    }

    /// Restores an object of an export, and leaves the file after its items.
    async fn restore(
        &self,
        file: &mut ExportFile,
        entry: Entry,
        refused: &mut HashSet<ConversationId>,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let Entry { line, content } = entry;
        let (object, id) = content.name();
        let refusal = |reason| Refusal { object, id: id.clone(), line, reason };
        if content.conversation().is_some_and(|id| refused.contains(id)) {
            report.refuse(refusal("its conversation was refused".to_owned()));
            return Ok(skip_items(file)?);
        }
        let restored = match content {
            Content::OpenTurn(_) => {
                report.open_turns += 1;
                return Ok(skip_items(file)?);
            }
            Content::Ledger(named, subject) => {
                let restorer = self.store.restorer();
                refusable(restorer.restore_ledger(&self.tenant, named, subject).await)?
            }
            Content::Object(thread, object) => {
                self.write(thread, *object, || file.next_items()).await?
            }
        };
        skip_items(file)?;
        match restored {
            Ok(restored) => report.add(object, restored),
            Err(reason) => {
                refused.extend(ConversationId::parse(&id));
                report.refuse(refusal(reason));
            }
        }
        Ok(())
    }

    /// Writes an object with the items that `next_items` reads. Returns the reason if the store
    /// refuses the object.
    async fn write(
        &self,
        thread: ThreadRecord,
        object: RestoredObject,
        mut next_items: impl FnMut() -> Result<Vec<(Seq, HeldItem)>, Flaw>,
    ) -> Result<Result<Restored, String>, ImportError> {
        let is_conversation = matches!(object, RestoredObject::Conversation { .. });
        let room = Room::new(&*self.store, &self.tenant, &self.limits, is_conversation).await?;
        let (sender, feed) = item_feed(room.amount());
        let sending = async {
            loop {
                let items = next_items()?;
                if items.is_empty() || !sender.send(items).await {
                    break;
                }
            }
            sender.finish().await;
            Ok::<_, Flaw>(())
        };
        let restorer = self.store.restorer();
        let restoring = restorer.restore(&self.tenant, thread, object, feed);
        let (restored, sent) = tokio::join!(restoring, sending);
        sent?;
        match restored {
            Err(StoreError::QuotaExceeded(unit)) => Ok(Err(room.refusal(unit))),
            restored => refusable(restored),
        }
    }

    async fn count_items(
        &self,
        before: antiphon_store::Usage,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let after = self.store.usage(&self.tenant).await?;
        report.items = after.items.saturating_sub(before.items);
        report.item_bytes = after.bytes.saturating_sub(before.bytes);
        Ok(())
    }
}

/// Reads a whole export, so that an invalid one changes nothing.
fn check_export(path: &Path, key: FingerprintKey) -> Result<(), Flaw> {
    let mut file = ExportFile::open(path, key)?;
    while file.next_entry()?.is_some() {
        skip_items(&mut file)?;
    }
    Ok(())
}

fn skip_items(file: &mut ExportFile) -> Result<(), Flaw> {
    while !file.next_items()?.is_empty() {}
    Ok(())
}

/// Separates the refusal of an object from a failure of the store.
fn refusable(
    restored: Result<Restored, StoreError>,
) -> Result<Result<Restored, String>, ImportError> {
    match restored {
        Ok(restored) => Ok(Ok(restored)),
        Err(error @ (StoreError::Conflict(_) | StoreError::DuplicateItem(_))) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
