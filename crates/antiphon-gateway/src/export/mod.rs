//! Exports the data of a tenant as lines of JSON.
//!
//! ```text
//! {"object":"export","version":2,"tenant":"acme"}
//! {"object":"ledger","upstream":"https://…","id":"conv_…","conversation":"conv_…"}
//! {"object":"ledger","upstream":"https://…","id":"resp_…","response":"resp_…"}
//! {"object":"thread","shard":"…","id":"…","tip":3,"named":true,"lineage":[]}
//! {"object":"conversation","id":"conv_…","created_at":…,"metadata":{…}}
//! {"object":"conversation.item","conversation":"conv_…","id":"msg_…","at":0,"item":{…}}
//! {"object":"conversation.item","conversation":"conv_…","id":"msg_…","at":1,"deleted":true,…}
//! {"object":"conversation.item","conversation":"conv_…","id":"…","at":2,"kept_elsewhere":true,…}
//! {"object":"thread","shard":"…","id":"…","tip":9,"named":false,"lineage":[["…",7]]}
//! {"object":"response","id":"resp_…",…,"output":[…]}
//! {"object":"response.range","response":"resp_…","created_at":…,"input":7,"output":8,"end":9}
//! {"object":"response.report","response":"resp_…","report":{…}}
//! {"object":"response.input_item","response":"resp_…","id":"msg_…","at":7,"item":{…}}
//! {"object":"response.output_item","response":"resp_…","id":"msg_…","at":8,…,"item":{…}}
//! {"object":"open_turn","response":{"id":"resp_…",…}}
//! {"object":"thread","shard":"…","id":"…","tip":7,"named":false,"lineage":[]}
//! {"object":"item","id":"msg_…","at":0,"item":{…}}
//! {"object":"export.end","lines":16}
//! ```
//!
//! An `item` has its original bytes, including encrypted reasoning; only line ends between its
//! tokens become blanks. A deleted item has its id and its head. The items of a conversation follow
//! it in order, and so do the report and the items of a response. A `response` is in the form of
//! the API, with its original encrypted reasoning.
//!
//! A `thread` is the log of the object that follows it. `at` is the position of an item in it, and
//! `response.range` has those of a response: with them the objects can be restored as they were.
//!
//! A ledger names a conversation or response that a provider stores, with the name of its upstream
//! and the provider's id. The data of the gateway follows under the gateway's own id. For items
//! that the provider stores, this is only their ids; the items of a response's output follow the
//! response. The provider has their bytes.
//!
//! An open turn has started but not ended, and its input items follow it. A background response is
//! exported after its end. Lines with the object `item` contain items that no longer belong to a
//! conversation or response, but that later items depend on. Without the last line, the export is
//! incomplete.

mod line;

use std::io;
use std::ops::Range;

use antiphon::HeldItem;
use antiphon::json::Object;
use antiphon_store::{
    Cursor, ItemPlace, LedgerEntry, LedgerSubject, ListedConversation, ResponseId, ResponseRecord,
    Seq, Shard, Snapshot, StoreError, Tenant, ThreadId, TurnRecord,
};

use self::line::ExportLine;
use crate::item_json::item_text;

/// The reason why an export stopped early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lines could not be written.
    #[error("the export cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// The version of the form. Version 2 added threads and positions.
pub(crate) const VERSION: u32 = 2;

type Result<T> = std::result::Result<T, ExportError>;

/// Writes all data of a tenant. Only a page of items or one response is in memory at a time.
pub async fn export(
    snapshot: &mut dyn Snapshot,
    tenant: &Tenant,
    out: &mut (dyn io::Write + Send),
) -> Result<()> {
    Export { snapshot, tenant, out, lines: 0 }.write().await
}

struct Export<'a> {
    snapshot: &'a mut dyn Snapshot,
    tenant: &'a Tenant,
    out: &'a mut (dyn io::Write + Send),
    /// The number of lines written so far.
    lines: u64,
}

impl Export<'_> {
    async fn write(mut self) -> Result<()> {
        let tenant = self.tenant.as_str();
        self.line(
            ExportLine::new("export").raw("version", VERSION.to_string()).text("tenant", tenant),
        )?;
        self.ledgers().await?;
        self.conversations().await?;
        self.responses().await?;
        self.pending_turns().await?;
        self.loose_items().await?;
        let lines = self.lines.to_string();
        self.line(ExportLine::new("export.end").raw("lines", &lines))?;
        Ok(self.out.flush()?)
    }

    async fn ledgers(&mut self) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.snapshot.ledgers(self.tenant, after.as_deref()).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(last.clone());
            for (provider_id, entry) in page {
                self.ledger(&provider_id, &entry)?;
            }
        }
    }

    fn ledger(&mut self, provider_id: &str, entry: &LedgerEntry) -> Result<()> {
        let line =
            ExportLine::new("ledger").text("upstream", &entry.upstream).text("id", provider_id);
        self.line(match &entry.subject {
            LedgerSubject::Conversation(id) => line.text("conversation", id.as_str()),
            LedgerSubject::Response(id) => line.text("response", id.as_str()),
        })
    }

    async fn conversations(&mut self) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.snapshot.conversations(self.tenant, after.as_ref()).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.conversation.id.clone());
            for listed in page {
                self.conversation(&listed).await?;
            }
        }
    }

    async fn conversation(&mut self, listed: &ListedConversation) -> Result<()> {
        let ListedConversation { conversation, end, binds_late } = listed;
        self.thread(end.shard, end.thread).await?;
        let id = conversation.id.as_str();
        let line = ExportLine::new("conversation").text("id", id);
        let line = line.raw("created_at", conversation.created_at.to_string());
        let line = line.raw("metadata", &conversation.metadata);
        self.line(line.flag("binds_late", *binds_late))?;
        let mut rest = 0..end.end;
        while let Some(items) = self.next_items(*end, &mut rest).await? {
            for (at, item) in &items {
                let line = ExportLine::new("conversation.item").text("conversation", id);
                self.line(line.item(Some(*at), item))?;
            }
        }
        Ok(())
    }

    /// Writes the thread of the object that follows.
    async fn thread(&mut self, shard: Shard, thread: ThreadId) -> Result<()> {
        match self.snapshot.thread(self.tenant, (shard, thread)).await? {
            Some(record) => self.line(ExportLine::from_thread(&record)),
            None => Ok(()),
        }
    }

    async fn responses(&mut self) -> Result<()> {
        let mut after: Option<ResponseId> = None;
        loop {
            let page = self.snapshot.responses(self.tenant, after.as_ref()).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.clone());
            for id in page {
                if let Some(record) = self.snapshot.response(self.tenant, &id).await? {
                    self.response(record).await?;
                }
            }
        }
    }

    async fn response(&mut self, record: ResponseRecord) -> Result<()> {
        let cursor = record.cursor;
        let mut rest = record.output.clone();
        let mut output = Vec::new();
        while let Some(items) = self.next_items(cursor, &mut rest).await? {
            output.extend(items);
        }
        self.thread(cursor.shard, cursor.thread).await?;
        let here = output.iter().map(|(_, item)| item).filter(|item| item.body.bytes().is_some());
        let shown: Vec<String> = here.map(|item| item_text(item, true)).collect();
        self.line(ExportLine::from_object(show(&record.response.envelope, &shown)?))?;
        self.line(ExportLine::from_range(&record))?;
        let id = record.response.id.as_str();
        let line = ExportLine::new("response.report").text("response", id);
        self.line(line.raw("report", &record.response.report))?;
        let mut rest = record.input.clone();
        while let Some(items) = self.next_items(cursor, &mut rest).await? {
            let items = items.iter().map(|(at, item)| (Some(*at), item));
            self.items_of(id, "response.input_item", items)?;
        }
        let output = output.iter().map(|(at, item)| (Some(*at), item));
        self.items_of(id, "response.output_item", output)
    }

    async fn pending_turns(&mut self) -> Result<()> {
        let mut after: Option<ResponseId> = None;
        loop {
            let page = self.snapshot.pending_turns(self.tenant, after.as_ref()).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.clone());
            for id in page {
                if let Some(turn) = self.snapshot.pending_turn(self.tenant, &id).await? {
                    self.pending_turn(&id, &turn)?;
                }
            }
        }
    }

    fn pending_turn(&mut self, id: &ResponseId, turn: &TurnRecord) -> Result<()> {
        if let Some(response) = &turn.response {
            self.line(ExportLine::new("open_turn").raw("response", &response.envelope))?;
        }
        let input = turn.input.iter().map(|item| (None, item));
        self.items_of(id.as_str(), "response.input_item", input)
    }

    fn items_of<'a>(
        &mut self,
        response: &str,
        object: &str,
        items: impl Iterator<Item = (Option<Seq>, &'a HeldItem)>,
    ) -> Result<()> {
        for (at, item) in items {
            self.line(ExportLine::new(object).text("response", response).item(at, item))?;
        }
        Ok(())
    }

    async fn loose_items(&mut self) -> Result<()> {
        let (mut after, mut current) = (None, None);
        loop {
            let (items, last) = self.snapshot.loose_items(self.tenant, after).await?;
            for (ItemPlace { shard, thread, seq }, item) in &items {
                if current.replace((*shard, *thread)) != Some((*shard, *thread)) {
                    self.thread(*shard, *thread).await?;
                }
                self.line(ExportLine::new("item").item(Some(*seq), item))?;
            }
            if last.is_none() {
                return Ok(());
            }
            after = last;
        }
    }

    /// Returns the next items of a range of a thread, and moves the start of the range after them.
    async fn next_items(
        &mut self,
        cursor: Cursor,
        range: &mut Range<Seq>,
    ) -> Result<Option<Vec<(Seq, HeldItem)>>> {
        let thread = (cursor.shard, cursor.thread);
        let page = self.snapshot.items(self.tenant, thread, range.clone()).await?;
        let Some((last, _)) = page.last() else { return Ok(None) };
        range.start = last.saturating_add(1);
        Ok(Some(page))
    }

    fn line(&mut self, line: ExportLine) -> Result<()> {
        self.out.write_all(&line.end())?;
        self.lines += 1;
        Ok(())
    }
}

/// The response in the form of the API.
fn show(envelope: &[u8], output: &[String]) -> Result<String> {
    let mut response = Object::parse(envelope).map_err(io::Error::from)?;
    response.set("output", format!("[{}]", output.join(",")));
    Ok(response.to_text())
}
