//! Lists of items: an array, one item a line, or the pages of the API's list of items.
//!
//! A list is read twice. The first pass checks every item and notes its place in its file; the
//! second reads the items in the order of the conversation.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use antiphon::item::{CallId, FingerprintKey, Item, ItemId, push_hex};
use antiphon::json::{Object, range_of_slice};
use antiphon::{HeldItem, Kind};
use antiphon_store::{ConversationId, Tenant, ThreadId};
use bytes::Bytes;
use ring::digest::{Context, SHA256};
use serde_json::value::RawValue;

use super::flaw::{Flaw, Source};
use super::pages::Pages;
use super::values::{Value, Values, count_lines};
use super::{BATCH_BYTES, BATCH_ITEMS};
use crate::compaction::{CompactionKey, check_compaction};
use crate::error::ApiError;
use crate::request::{self, check_stored_item};
use crate::settings::Limits;

/// The order of the items in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// Oldest first.
    Ascending,
    /// Newest first, which is the default of the API.
    Descending,
}

/// A checked list of items.
pub(super) struct ItemList {
    files: Vec<PathBuf>,
    places: Vec<ItemPlace>,
    digest: Vec<u8>,
    pub(super) order: ListOrder,
}

/// The place of an item in the files.
struct ItemPlace {
    file: usize,
    offset: u64,
    length: usize,
    line: u64,
    /// Its position in the list.
    position: u64,
}

impl ItemList {
    /// Reads and checks the files, which are the parts of one list. Without an `order`, pages are
    /// read in the order in which more outputs follow their calls.
    pub(super) fn read(
        files: &[PathBuf],
        order: Option<ListOrder>,
        checks: Checks<'_>,
    ) -> Result<Self, Flaw> {
        let mut reading = Reading::new(checks);
        for (number, path) in files.iter().enumerate() {
            let mut values = Values::open(path)?;
            let mut index = 0;
            while let Some(value) = values.next()? {
                reading.value(number, values.source(), &value, index)?;
                index += 1;
            }
        }
        reading.pages.check()?;
        if reading.places.is_empty() {
            let first = files.first().map_or(Path::new(""), PathBuf::as_path);
            return Err(Source::new(first).flaw("it contains no items"));
        }
        let order = order.unwrap_or_else(|| reading.order());
        let mut places = reading.places;
        if order == ListOrder::Descending {
            places.reverse();
        }
        let digest = reading.digest.finish().as_ref().to_vec();
        Ok(Self { files: files.to_vec(), places, digest, order })
    }

    /// The number of items.
    pub(super) fn len(&self) -> u64 {
        self.places.len() as u64
    }

    /// The id of a conversation that depends only on the content of the list.
    pub(super) fn conversation_id(&self) -> ConversationId {
        let mut text = "conv_".to_owned();
        push_hex(&mut text, &self.digest[..24]);
        ConversationId::parse(&text).expect("it has 48 hexadecimal digits")
    }

    /// The thread of a conversation with this content, so that a second import finds it.
    pub(super) fn thread_id(&self, conversation: &ConversationId) -> ThreadId {
        let digest = self.derive(conversation.as_str(), 0);
        let (number, _) = digest.split_first_chunk().expect("a digest has 32 bytes");
        ThreadId(u64::from_be_bytes(*number))
    }

    /// The first place of the list, for errors.
    pub(super) fn first_line(&self) -> u64 {
        self.places.iter().map(|place| place.line).min().unwrap_or(1)
    }

    /// Reads the items again, oldest first.
    pub(super) fn items(
        &self,
        conversation: ConversationId,
        key: FingerprintKey,
    ) -> ItemReader<'_> {
        ItemReader { list: self, next: 0, open: None, conversation, key }
    }

    /// A digest of the content, a conversation and a position.
    fn derive(&self, conversation: &str, position: u64) -> Vec<u8> {
        let mut digest = Context::new(&SHA256);
        digest.update(&self.digest);
        digest.update(conversation.as_bytes());
        digest.update(&position.to_be_bytes());
        digest.finish().as_ref().to_vec()
    }
}

/// The settings and keys of the checks.
#[derive(Clone, Copy)]
pub(super) struct Checks<'a> {
    pub(super) limits: &'a Limits,
    pub(super) compactions: &'a CompactionKey,
    pub(super) tenant: &'a Tenant,
}

impl Checks<'_> {
    /// Checks the item at `path` as the API does.
    fn check(&self, raw: &str, path: &str) -> Result<Item, String> {
        let item = self.check_as_api(raw, path).map_err(|error| match error {
            ApiError::UnreadableCompaction { path } => format!(
                "'{path}' cannot be read: another store or tenant sealed it, or it was changed; \
                 leave this item out"
            ),
            error => error.to_string(),
        })?;
        match item.head().kind {
            Kind::ItemReference => Err(format!(
                "'{path}' is an 'item_reference', which has no content; give the item itself"
            )),
            _ => Ok(item),
        }
    }

    fn check_as_api(&self, raw: &str, path: &str) -> Result<Item, ApiError> {
        let item = request::item(Bytes::copy_from_slice(raw.as_bytes()), path, self.limits)?;
        check_compaction(&item, path, self.compactions, self.tenant)?;
        check_stored_item(path, &item)?;
        Ok(item)
    }
}

/// The state of the first pass.
struct Reading<'a> {
    checks: Checks<'a>,
    places: Vec<ItemPlace>,
    digest: Context,
    /// The line of each id.
    ids: HashMap<ItemId, String>,
    evidence: OrderEvidence,
    pages: Pages,
}

impl<'a> Reading<'a> {
    fn new(checks: Checks<'a>) -> Self {
        Self {
            checks,
            places: Vec::new(),
            digest: Context::new(&SHA256),
            ids: HashMap::new(),
            evidence: OrderEvidence::default(),
            pages: Pages::default(),
        }
    }

    /// Reads an item, the one with this `index` in its file, or a page of items.
    fn value(
        &mut self,
        file: usize,
        source: &Source,
        value: &Value,
        index: usize,
    ) -> Result<(), Flaw> {
        let text = std::str::from_utf8(&value.text)
            .map_err(|_| source.at(value.line, "this is not JSON: it is not UTF-8"))?;
        let object = Object::parse_str(text).ok();
        if object.is_none() {
            value.check_syntax(source)?;
        }
        let page = object.filter(|page| page.string("object").as_deref() == Some("list"));
        let Some(page) = page else {
            let place = self.place(file, value.line, value.offset, text);
            return self.item(source, place, &format!("item[{index}]"), text);
        };
        let data = page.present("data").unwrap_or_default();
        let elements: Vec<&RawValue> = serde_json::from_str(data)
            .map_err(|_| source.at(value.line, "the field 'data' of a list is no array"))?;
        self.pages.add(source, value.line, &page, &elements)?;
        for (index, element) in elements.into_iter().enumerate() {
            let start = range_of_slice(text, element.get()).start;
            let line = value.line + count_lines(&text.as_bytes()[..start]);
            let offset = value.offset + start as u64;
            let place = self.place(file, line, offset, element.get());
            self.item(source, place, &format!("data[{index}]"), element.get())?;
        }
        Ok(())
    }

    /// The place of the next item.
    fn place(&self, file: usize, line: u64, offset: u64, raw: &str) -> ItemPlace {
        let position = self.places.len() as u64;
        ItemPlace { file, offset, length: raw.len(), line, position }
    }

    fn item(
        &mut self,
        source: &Source,
        place: ItemPlace,
        path: &str,
        raw: &str,
    ) -> Result<(), Flaw> {
        let line = place.line;
        let item = self.checks.check(raw, path).map_err(|reason| source.at(line, reason))?;
        if let Some(id) = &item.head().id {
            let place = source.at(line, "").to_string();
            if let Some(first) = self.ids.insert(id.clone(), place) {
                let first = first.trim_end_matches([':', ' ']);
                let sentence = format!("the list has the item '{id}' already, at {first}");
                return Err(source.at(line, sentence));
            }
        }
        self.evidence.add(&item);
        self.digest.update(raw.as_bytes());
        self.digest.update(b"\n");
        self.places.push(place);
        Ok(())
    }

    fn order(&self) -> ListOrder {
        match self.pages.has_any() && self.evidence.is_descending() {
            true => ListOrder::Descending,
            false => ListOrder::Ascending,
        }
    }
}

/// Facts about the order of a list, as `antiphon check` uses them: an output follows its call, and
/// a conversation does not begin with an item of the model.
#[derive(Default)]
struct OrderEvidence {
    /// The ids of calls without an output so far, and of outputs without a call.
    calls: HashSet<CallId>,
    outputs: HashSet<CallId>,
    outputs_after_calls: u64,
    calls_after_outputs: u64,
    begins_with_model: Option<bool>,
    ends_with_model: bool,
}

impl OrderEvidence {
    fn add(&mut self, item: &Item) {
        let head = item.head();
        self.ends_with_model = head.is_model_made();
        self.begins_with_model.get_or_insert(self.ends_with_model);
        let Some(id) = &head.call_id else { return };
        if head.kind.output().is_some() {
            match self.outputs.remove(id) {
                true => self.calls_after_outputs += 1,
                false => drop(self.calls.insert(id.clone())),
            }
        } else if head.kind.call().is_some() {
            match self.calls.remove(id) {
                true => self.outputs_after_calls += 1,
                false => drop(self.outputs.insert(id.clone())),
            }
        }
    }

    fn is_descending(&self) -> bool {
        match self.outputs_after_calls.cmp(&self.calls_after_outputs) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.begins_with_model == Some(true) && !self.ends_with_model,
        }
    }
}

/// The second pass.
pub(super) struct ItemReader<'a> {
    list: &'a ItemList,
    next: usize,
    open: Option<(usize, File)>,
    conversation: ConversationId,
    key: FingerprintKey,
}

impl ItemReader<'_> {
    /// The next items with their positions; empty after the last.
    pub(super) fn next_items(&mut self) -> Result<Vec<(u64, HeldItem)>, Flaw> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH_ITEMS && bytes < BATCH_BYTES {
            let Some(place) = self.list.places.get(self.next) else { break };
            let at = self.next as u64;
            self.next += 1;
            bytes += place.length;
            batch.push((at, self.read(place)?));
        }
        Ok(batch)
    }

    fn read(&mut self, place: &ItemPlace) -> Result<HeldItem, Flaw> {
        let path = &self.list.files[place.file];
        let source = Source::new(path);
        let raw = self.bytes(place, path).map_err(|error| source.unreadable(&error))?;
        let item = Item::parse(raw.into())
            .map_err(|_| source.at(place.line, "the file changed while it was imported"))?;
        let id = item.head().id.clone().unwrap_or_else(|| self.issue_id(&item, place.position));
        Ok(HeldItem::new(id, &item, self.key, None))
    }

    fn bytes(&mut self, place: &ItemPlace, path: &Path) -> std::io::Result<Vec<u8>> {
        if self.open.as_ref().is_none_or(|(file, _)| *file != place.file) {
            self.open = Some((place.file, File::open(path)?));
        }
        let (_, file) = self.open.as_mut().expect("the file was opened above");
        let mut raw = vec![0; place.length];
        file.seek(SeekFrom::Start(place.offset))?;
        file.read_exact(&mut raw)?;
        Ok(raw)
    }

    /// An id for an item without one, the same in each import of the list.
    fn issue_id(&self, item: &Item, position: u64) -> ItemId {
        let mut id = format!("{}_", item.head().kind.id_prefix());
        push_hex(&mut id, &self.list.derive(self.conversation.as_str(), position + 1)[..24]);
        ItemId::from(id)
    }
}
