//! Reads the values of the inspector from a store.

use std::collections::{BTreeMap, BTreeSet};

use antiphon::{Body, HeldItem, Item};
use antiphon_store::{
    ConversationId, LedgerSubject, ListedSegment, ListedTurn, Listings, ResponseId, ResponseRecord,
    Seq, Shard, StoreError, Tenant, ThreadId, Usage,
};

use super::forest::{Forest, Group, Path};
use super::model::{ConversationView, LanePage, RefusedTurnView, TurnView};
use super::query::{LaneName, PageQuery, limit};
use super::stored_report::StoredReport;
use super::{lanes, live, sent, summary, turns};
use crate::context::{Context, rebuild};
use crate::settings::Prices;

type Result<T> = std::result::Result<T, StoreError>;

/// The maximum number of bytes of items that one call loads.
const MAX_LOADED: usize = 16 << 20;

/// Reads the conversations of one tenant. It only reads.
pub struct Inspector<'a> {
    listings: &'a dyn Listings,
    tenant: &'a Tenant,
    pub(super) prices: &'a Prices,
    /// Whether the content of items is shown.
    pub(super) shows_bodies: bool,
    /// The latest turns that left no response. No store has them.
    pub(super) refused: Vec<RefusedTurnView>,
    /// Opens the compactions of the gateway.
    open: Box<OpenCompaction<'a>>,
}

/// Returns the compaction in an item that the gateway encrypted.
type OpenCompaction<'a> = dyn Fn(&Item) -> Option<Item> + Send + Sync + 'a;

/// Loaded items by position.
pub(super) type Items = BTreeMap<Seq, HeldItem>;

/// A turn of a path: its segment, its response, and the live items before it.
pub(super) type PathTurn<'f> = (&'f ListedSegment, &'f ListedTurn, Usage);

/// The conversation or chain that an id names.
pub(super) struct Located {
    pub(super) forest: Forest,
    pub(super) group: Group,
    pub(super) thread: ThreadId,
}

impl<'a> Inspector<'a> {
    /// An inspector of a tenant's data. `prices` give the cost of turns whose report has none.
    pub fn new(listings: &'a dyn Listings, tenant: &'a Tenant, prices: &'a Prices) -> Self {
        let (refused, open) = (Vec::new(), Box::new(|_: &Item| None));
        Self { listings, tenant, prices, shows_bodies: true, refused, open }
    }

    /// Lists conversations also by these turns of the tenant that left no response.
    pub(crate) fn with_refused(self, refused: Vec<RefusedTurnView>) -> Self {
        Self { refused, ..self }
    }

    /// Hides the content of items unless `shows_bodies`.
    #[must_use]
    pub fn with_bodies(self, shows_bodies: bool) -> Self {
        Self { shows_bodies, ..self }
    }

    /// Opens the compactions that the gateway encrypted. Without their key, the prompt of a turn
    /// after a compaction is not exact.
    pub(crate) fn with_compactions(
        self,
        open: impl Fn(&Item) -> Option<Item> + Send + Sync + 'a,
    ) -> Self {
        Self { open: Box::new(open), ..self }
    }

    pub(super) fn listings(&self) -> (&dyn Listings, &Tenant) {
        (self.listings, self.tenant)
    }

    /// A conversation or chain with a page of its turns. `id` is that of a conversation, of any
    /// response of a chain, or of either at an upstream.
    ///
    /// # Errors
    /// Fails if the store does.
    pub async fn conversation(
        &self,
        id: &str,
        page: &PageQuery,
    ) -> Result<Option<ConversationView>> {
        let Some(Located { forest, group, thread }) = self.locate(id).await? else {
            return Ok(None);
        };
        let path = forest.path(thread, None);
        let summary = summary::summary(self, &forest, &group, &path, &summary::VIEWED).await?;
        let (from, most) = (page.offset(), limit(page.limit));
        let shown: Vec<_> = path.turns().skip(from).take(most).collect();
        let next = from + shown.len();
        Ok(Some(ConversationView {
            summary,
            turns: turns::views(self, &forest, &path, &shown).await?,
            next: (next < path.count_turns()).then(|| next.to_string()),
            tree: forest.tree_turns(&group, &path),
            live: live::from_store(&forest, &group),
        }))
    }

    /// One turn.
    ///
    /// # Errors
    /// Fails if the store does.
    pub async fn turn(&self, id: &str) -> Result<Option<TurnView>> {
        let Some((forest, id)) = self.find_turn(id).await? else { return Ok(None) };
        let Some(path) = turn_path(&forest, &id) else { return Ok(None) };
        let Some(turn) = path.turns().last() else { return Ok(None) };
        let Some(record) = self.records(&forest, &[turn]).await?.pop() else { return Ok(None) };
        let from = if can_load(&path) { 0 } else { turns::first_item(&[turn]) };
        let mut items = self.items(&forest, &path, (from, path.end())).await?;
        let report = StoredReport::parse(&record.response.report);
        self.add_items(&forest, &path, lanes::needed_resent(&report, turn.2), &mut items).await?;
        let mut view = turns::view(self, &forest, &turn, (&record, &report), &items);
        if let Some(context) = self.context(&path, &record, items) {
            sent::complete(&mut view, &context, self.shows_bodies);
        }
        Ok(Some(view))
    }

    /// The response before a turn, in its conversation or chain. `None` for the first.
    ///
    /// # Errors
    /// Fails if the store does.
    pub(super) async fn turn_before(&self, id: &str) -> Result<Option<String>> {
        let Some((forest, id)) = self.find_turn(id).await? else { return Ok(None) };
        let parent = forest.segment(&id).and_then(|segment| forest.parent(segment));
        Ok(parent.map(|turn| turn.listed.id.to_string()))
    }

    /// A page of a lane of a turn.
    ///
    /// # Errors
    /// Fails if the store does.
    pub async fn lane(
        &self,
        id: &str,
        name: LaneName,
        page: &PageQuery,
    ) -> Result<Option<LanePage>> {
        let Some((forest, id)) = self.find_turn(id).await? else { return Ok(None) };
        let Some(path) = turn_path(&forest, &id) else { return Ok(None) };
        let Some(turn) = path.turns().last() else { return Ok(None) };
        let Some(record) = self.records(&forest, &[turn]).await?.pop() else { return Ok(None) };
        if name == LaneName::Sent && can_load(&path) {
            let items = self.items(&forest, &path, (0, path.end())).await?;
            if let Some(context) = self.context(&path, &record, items) {
                let (from, most) = (page.offset(), limit(page.limit));
                let lane = sent::page(&context, (from, most), self.shows_bodies);
                let next = (from + most < lane.items).then(|| (from + most).to_string());
                return Ok(Some(LanePage { lane, next }));
            }
        }
        lanes::page(self, &forest, &path, &record, name, page).await.map(Some)
    }

    /// The exact prompt of the turn that ends a path, from all items of the path. `None` if they
    /// are too many to load, or if an upstream stores them.
    fn context(&self, path: &Path<'_>, record: &ResponseRecord, items: Items) -> Option<Context> {
        let items: Vec<HeldItem> = items.into_values().collect();
        let is_elsewhere = items.iter().any(|item| item.body == Body::StoredElsewhere);
        let is_whole = can_load(path) && !is_elsewhere;
        is_whole.then(|| rebuild(record, &items, &*self.open))
    }

    async fn find_turn(&self, id: &str) -> Result<Option<(Forest, ResponseId)>> {
        let found = match self.subject(id).await? {
            Some(LedgerSubject::Response(id)) => Some((self.forest(id.shard()).await?, id)),
            _ => None,
        };
        Ok(found)
    }

    /// The conversation or chain of an id.
    pub(super) async fn locate(&self, id: &str) -> Result<Option<Located>> {
        match self.subject(id).await? {
            Some(LedgerSubject::Conversation(id)) => self.locate_conversation(id).await,
            Some(LedgerSubject::Response(id)) => self.locate_response(&id).await,
            None => Ok(None),
        }
    }

    async fn locate_conversation(&self, id: ConversationId) -> Result<Option<Located>> {
        let forest = self.forest(id.shard()).await?;
        let thread = forest.conversation(&id).map(|(_, thread)| thread);
        Ok(thread.map(|thread| Located { forest, group: Group::Conversation(id), thread }))
    }

    /// The first response of a chain stands for the whole chain. Any other one shows the path
    /// through its own thread.
    async fn locate_response(&self, id: &ResponseId) -> Result<Option<Located>> {
        let forest = self.forest(id.shard()).await?;
        let Some((group, own)) =
            forest.segment(id).map(|segment| (forest.group(segment), segment.thread))
        else {
            return Ok(None);
        };
        let is_first = forest.id(&group).is_some_and(|first| first == id.as_str());
        let main = forest.main_thread(&group).filter(|_| is_first);
        Ok(Some(Located { thread: main.unwrap_or(own), forest, group }))
    }

    /// The stored object that an id names, here or at an upstream.
    async fn subject(&self, id: &str) -> Result<Option<LedgerSubject>> {
        if let Some(entry) = self.listings.ledger(self.tenant, id).await? {
            return Ok(Some(entry.subject));
        }
        Ok(LedgerSubject::parse(id))
    }

    pub(super) async fn forest(&self, shard: Shard) -> Result<Forest> {
        Ok(Forest::new(shard, self.listings.tree(self.tenant, shard).await?))
    }

    /// The records of consecutive turns.
    pub(super) async fn records(
        &self,
        forest: &Forest,
        turns: &[PathTurn<'_>],
    ) -> Result<Vec<ResponseRecord>> {
        let mut records = Vec::with_capacity(turns.len());
        for run in turns.chunk_by(|(one, ..), (next, ..)| one.thread == next.thread) {
            let ((first, ..), (last, ..)) = (run[0], run[run.len() - 1]);
            let (of, range) = ((forest.shard, first.thread), (first.first, last.first));
            let found = self.listings.thread_responses(self.tenant, of, range, run.len()).await?;
            records.extend(found);
        }
        Ok(records)
    }

    /// The items of a path in a range of positions. Ends early at a bound of bytes.
    pub(super) async fn items(
        &self,
        forest: &Forest,
        path: &Path<'_>,
        (from, end): (Seq, Seq),
    ) -> Result<Items> {
        let (mut items, mut bytes) = (Items::new(), 0);
        for part in &path.parts {
            let (mut next, end) = (part.from.max(from), part.end.min(end));
            while next < end && bytes < MAX_LOADED {
                let of = (forest.shard, part.thread);
                let page = self.listings.thread_items(self.tenant, of, (next, end)).await?;
                let Some((last, _)) = page.last() else { break };
                next = last + 1;
                bytes += page.iter().map(|(_, item)| item.length()).sum::<usize>();
                items.extend(page);
            }
        }
        Ok(items)
    }

    /// Adds the items at these positions of a path.
    pub(super) async fn add_items(
        &self,
        forest: &Forest,
        path: &Path<'_>,
        positions: impl IntoIterator<Item = Seq>,
        items: &mut Items,
    ) -> Result<()> {
        let missing = positions.into_iter().filter(|at| !items.contains_key(at));
        for range in ranges(missing.collect()) {
            items.extend(self.items(forest, path, range).await?);
        }
        Ok(())
    }
}

/// The ranges of consecutive positions.
fn ranges(positions: BTreeSet<Seq>) -> Vec<(Seq, Seq)> {
    let mut ranges: Vec<(Seq, Seq)> = Vec::new();
    for at in positions {
        match ranges.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}

/// Whether all items of a path can be loaded at once.
fn can_load(path: &Path<'_>) -> bool {
    path.usage.bytes < MAX_LOADED as u64
}

/// The path that ends with a turn.
fn turn_path<'f>(forest: &'f Forest, id: &ResponseId) -> Option<Path<'f>> {
    let segment = forest.segment(id)?;
    let end = segment.response.as_ref()?.end;
    Some(forest.path(segment.thread, Some(end.max(segment.first + 1))))
}
