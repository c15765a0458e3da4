//! Exports the data of a tenant as lines of JSON.
//!
//! ```text
//! {"object":"export","version":1,"tenant":"acme"}
//! {"object":"ledger","upstream":"https://…","id":"conv_…","conversation":"conv_…"}
//! {"object":"ledger","upstream":"https://…","id":"resp_…","response":"resp_…"}
//! {"object":"conversation","id":"conv_…","created_at":…,"metadata":{…}}
//! {"object":"conversation.item","conversation":"conv_…","id":"msg_…","item":{…}}
//! {"object":"conversation.item","conversation":"conv_…","id":"msg_…","deleted":true}
//! {"object":"conversation.item","conversation":"conv_…","id":"msg_…","kept_elsewhere":true}
//! {"object":"response","id":"resp_…",…,"output":[…]}
//! {"object":"response.input_item","response":"resp_…","id":"msg_…","item":{…}}
//! {"object":"response.output_item","response":"resp_…","id":"msg_…","kept_elsewhere":true}
//! {"object":"response.report","response":"resp_…","report":{…}}
//! {"object":"open_turn","response":{"id":"resp_…",…}}
//! {"object":"item","id":"msg_…","item":{…}}
//! {"object":"export.end","lines":13}
//! ```
//!
//! An `item` has its original bytes, including encrypted reasoning; only line ends between its
//! tokens become blanks. A deleted item has only its id. The items of a conversation follow it in
//! order, and so do the input items and the report of a response. A `response` is in the form of
//! the API, with its original encrypted reasoning.
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

use antiphon::json::Object;
use antiphon::{Body, HeldItem};
use antiphon_store::{
    Conversation, Cursor, LedgerEntry, LedgerSubject, ResponseId, ResponseRecord, Seq, Snapshot,
    StoreError, Tenant, TurnRecord,
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
        self.line(ExportLine::new("export").raw("version", "1").text("tenant", tenant))?;
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
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(last.id.clone());
            for (conversation, end) in page {
                self.conversation(&conversation, end).await?;
            }
        }
    }

    async fn conversation(&mut self, conversation: &Conversation, end: Cursor) -> Result<()> {
        let id = conversation.id.as_str();
        let line = ExportLine::new("conversation").text("id", id);
        let line = line.raw("created_at", conversation.created_at.to_string());
        self.line(line.raw("metadata", &conversation.metadata))?;
        let mut rest = 0..end.end;
        while let Some(items) = self.next_items(end, &mut rest).await? {
            for item in &items {
                self.line(
                    ExportLine::new("conversation.item").text("conversation", id).item(item),
                )?;
            }
        }
        Ok(())
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
        let ResponseRecord { response, cursor, mut input, mut output } = record;
        let (mut shown, mut elsewhere): (Vec<String>, Vec<HeldItem>) = Default::default();
        while let Some(items) = self.next_items(cursor, &mut output).await? {
            let here = items.iter().filter(|item| item.body.bytes().is_some());
            shown.extend(here.map(|item| item_text(item, true)));
            elsewhere.extend(items.into_iter().filter(|item| item.body == Body::StoredElsewhere));
        }
        self.line(ExportLine::from_object(show(&response.envelope, &shown)?))?;
        let id = response.id.as_str();
        for item in &elsewhere {
            self.line(ExportLine::new("response.output_item").text("response", id).item(item))?;
        }
        while let Some(items) = self.next_items(cursor, &mut input).await? {
            self.input_items(id, &items)?;
        }
        let line = ExportLine::new("response.report").text("response", id);
        self.line(line.raw("report", &response.report))
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
        self.input_items(id.as_str(), &turn.input)
    }

    fn input_items(&mut self, response: &str, items: &[HeldItem]) -> Result<()> {
        for item in items {
            self.line(
                ExportLine::new("response.input_item").text("response", response).item(item),
            )?;
        }
        Ok(())
    }

    async fn loose_items(&mut self) -> Result<()> {
        let mut after = None;
        loop {
            let (items, last) = self.snapshot.loose_items(self.tenant, after).await?;
            for item in &items {
                self.line(ExportLine::new("item").item(item))?;
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
    ) -> Result<Option<Vec<HeldItem>>> {
        let thread = (cursor.shard, cursor.thread);
        let page = self.snapshot.items(self.tenant, thread, range.clone()).await?;
        let Some((last, _)) = page.last() else { return Ok(None) };
        range.start = last.saturating_add(1);
        Ok(Some(page.into_iter().map(|(_, item)| item).collect()))
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
