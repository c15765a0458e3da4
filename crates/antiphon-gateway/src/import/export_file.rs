//! Reads an export: its objects, each with its items in batches.

use std::path::Path;

use antiphon::HeldItem;
use antiphon::item::FingerprintKey;
use antiphon_store::{
    ConversationId, Cursor, LedgerSubject, NewResponse, ResponseRecord, RestoredObject, Seq,
    ThreadRecord, UpstreamId,
};

use super::flaw::Flaw;
use super::line::{Line, Owner, Range};
use super::values::Values;
use super::{BATCH_BYTES, BATCH_ITEMS};

/// An export, read from its start to its end.
pub(super) struct ExportFile {
    values: Values,
    key: FingerprintKey,
    /// The number of lines read, and the line of the file at which the last one begins.
    count: u64,
    line: u64,
    /// A line that was read too early.
    pending: Option<Line>,
    /// The owner of the items that come next.
    owner: Option<Owner>,
    /// The least position of the next item, and the end of the thread.
    next_at: Seq,
    tip: Seq,
}

/// An object of an export. Its items follow, see [`ExportFile::next_items`].
pub(super) struct Entry {
    /// The line at which it begins.
    pub(super) line: u64,
    pub(super) content: Content,
}

pub(super) enum Content {
    Ledger(UpstreamId, LedgerSubject),
    Object(ThreadRecord, Box<RestoredObject>),
    /// A turn that had not ended. Its record is not restored.
    OpenTurn(String),
}

impl ExportFile {
    /// Opens an export and reads its first line.
    pub(super) fn open(path: &Path, key: FingerprintKey) -> Result<Self, Flaw> {
        let values = Values::open(path)?;
        let mut file =
            Self { values, key, count: 0, line: 1, pending: None, owner: None, next_at: 0, tip: 0 };
        match file.next_line()? {
            Some(Line::Head) => Ok(file),
            _ => Err(file.flaw("an export begins with the object 'export'")),
        }
    }

    /// The next object; `None` at the end of a complete export.
    pub(super) fn next_entry(&mut self) -> Result<Option<Entry>, Flaw> {
        (self.owner, self.next_at) = (None, 0);
        let Some(next) = self.next_line()? else {
            return Err(self.flaw("the export is incomplete: its last line is missing"));
        };
        let line = self.line;
        let content = match next {
            Line::Ledger(named, subject) => Content::Ledger(named, subject),
            Line::OpenTurn(id) => {
                (self.owner, self.tip) = (Some(Owner::Response), Seq::MAX);
                Content::OpenTurn(id)
            }
            Line::Thread(thread) => {
                self.tip = thread.tip;
                let object = self.object(&thread)?;
                Content::Object(thread, Box::new(object))
            }
            Line::End { lines } if lines + 1 == self.count => {
                return match self.values.next()? {
                    None => Ok(None),
                    Some(_) => Err(self.flaw("more text follows the last line of the export")),
                };
            }
            Line::End { lines } => {
                let found = self.count - 1;
                return Err(self.flaw(&format!("{lines} lines were exported, but {found} found")));
            }
            _ => return Err(self.flaw("this line is at the wrong place")),
        };
        Ok(Some(Entry { line, content }))
    }

    /// The next items of the object; empty after the last.
    pub(super) fn next_items(&mut self) -> Result<Vec<(Seq, HeldItem)>, Flaw> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH_ITEMS && bytes < BATCH_BYTES {
            match self.next_line()? {
                Some(Line::Item(placed)) if Some(placed.owner) == self.owner => {
                    let at = placed.at.unwrap_or(self.next_at);
                    if at < self.next_at || at >= self.tip {
                        return Err(self.flaw("the position of the item is not in its thread"));
                    }
                    self.next_at = at + 1;
                    bytes += placed.item.length();
                    batch.push((at, placed.item));
                }
                line => {
                    self.pending = line;
                    break;
                }
            }
        }
        Ok(batch)
    }

    /// The object after its thread.
    fn object(&mut self, thread: &ThreadRecord) -> Result<RestoredObject, Flaw> {
        let (object, shard) = match self.next_line()? {
            Some(Line::Conversation { conversation, binds_late }) => {
                self.owner = Some(Owner::Conversation);
                let shard = conversation.id.shard();
                (RestoredObject::Conversation { conversation, binds_late }, shard)
            }
            Some(Line::Response(envelope)) => {
                self.owner = Some(Owner::Response);
                let record = self.response(thread, envelope)?;
                let shard = record.response.id.shard();
                (RestoredObject::Response(record), shard)
            }
            line @ Some(Line::Item(_)) => {
                self.pending = line;
                self.owner = Some(Owner::Nothing);
                (RestoredObject::LooseItems, thread.shard)
            }
            _ => return Err(self.flaw("a thread must be followed by its object")),
        };
        match shard == thread.shard {
            true => Ok(object),
            false => Err(self.flaw("the id of the object names another shard than its thread")),
        }
    }

    fn response(
        &mut self,
        thread: &ThreadRecord,
        envelope: bytes::Bytes,
    ) -> Result<ResponseRecord, Flaw> {
        let (Some(Line::Range(range)), Some(Line::Report(report))) =
            (self.next_line()?, self.next_line()?)
        else {
            return Err(self.flaw("a response must be followed by its positions and its report"));
        };
        let Range { response: id, conversation, created_at, input, output, end } = range;
        if !(input <= output && output <= end && end <= thread.tip) {
            return Err(self.flaw("the positions of the response are not in its thread"));
        }
        let response = NewResponse { id, conversation, created_at, envelope, report, copy: None };
        Ok(ResponseRecord {
            response,
            cursor: Cursor { shard: thread.shard, thread: thread.thread, end },
            input: input..output,
            output: output..end,
        })
    }

    fn next_line(&mut self) -> Result<Option<Line>, Flaw> {
        if let Some(line) = self.pending.take() {
            return Ok(Some(line));
        }
        let Some(value) = self.values.next()? else { return Ok(None) };
        (self.count, self.line) = (self.count + 1, value.line);
        Line::parse(&value.text, self.key).map(Some).map_err(|reason| {
            let syntax = value.check_syntax(self.values.source());
            syntax.err().unwrap_or_else(|| self.flaw(&reason))
        })
    }

    fn flaw(&self, sentence: &str) -> Flaw {
        self.values.source().at(self.line, sentence)
    }
}

impl Content {
    /// The kind and the id, for a report.
    pub(super) fn name(&self) -> (&'static str, String) {
        match self {
            Self::Ledger(named, _) => ("ledger", named.id.clone()),
            Self::OpenTurn(id) => ("open_turn", id.clone()),
            Self::Object(_, object) => match &**object {
                RestoredObject::Conversation { conversation, .. } => {
                    ("conversation", conversation.id.to_string())
                }
                RestoredObject::Response(record) => ("response", record.response.id.to_string()),
                RestoredObject::LooseItems => ("items", String::new()),
            },
        }
    }

    /// The conversation that a response belongs to.
    pub(super) fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Self::Object(_, object) => match &**object {
                RestoredObject::Response(record) => record.response.conversation.as_ref(),
                _ => None,
            },
            _ => None,
        }
    }
}
