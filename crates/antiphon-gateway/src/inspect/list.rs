//! The list of conversations and chains, the latest first.
//!
//! Two lists are merged: that of the newest responses and that of the newest conversations. An
//! entry stands at the place of its newest turn, or of its creation if it has no turn.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use antiphon::HeldItem;
use antiphon_store::{Conversation, ListedResponse, Recency, Shard, StoreError};

use super::forest::{Forest, Group};
use super::inspector::Inspector;
use super::model::{ConversationPage, Summary};
use super::query::{ListCursor, ListQuery, limit};
use super::summary::{self, metadata};

type Result<T> = std::result::Result<T, StoreError>;

/// The number of pages of responses that one list examines.
const MAX_PAGES: usize = 8;
/// The number of conversations that one search examines.
const MAX_SEARCHED: usize = 200;
/// The number of bytes of items that a search reads in a conversation.
const SEARCHED_ITEMS: u64 = 256;
/// The number of conversations without a turn that are read at once.
const CONVERSATIONS: usize = 64;

impl Inspector<'_> {
    /// A page of the conversations and chains, the latest first.
    ///
    /// # Errors
    /// Fails if the store does.
    pub async fn conversations(&self, query: &ListQuery) -> Result<ConversationPage> {
        let after = query.after.as_deref().map(ListCursor::parse).unwrap_or_default();
        let mut list = List::new(self, after);
        let most = limit(query.limit);
        let search = query.search.as_deref().map(str::to_lowercase).filter(|it| !it.is_empty());
        let (mut data, mut examined) = (Vec::new(), 0);
        while data.len() < most && examined < MAX_SEARCHED {
            let Some((shard, group)) = list.next().await? else { break };
            examined += 1;
            let entry = list.entry(shard, &group, search.as_deref()).await?;
            let is_shown =
                |it: &Summary| query.show.is_none_or(|part| part.contains(it, &self.refused));
            data.extend(entry.filter(is_shown));
        }
        let is_cut = data.len() < most && !list.is_at_end();
        let next = (!list.is_at_end()).then(|| list.reached.to_text());
        Ok(ConversationPage { data, next, is_cut })
    }
}

/// A merge of both lists.
struct List<'a> {
    inspector: &'a Inspector<'a>,
    responses: Source<ListedResponse>,
    conversations: Source<Conversation>,
    /// The trees that entries were in, each with the newest turn of its groups.
    forests: HashMap<Shard, (Forest, HashMap<Group, Recency>)>,
    /// The position after the last entry.
    reached: ListCursor,
    pages: usize,
}

/// A list that is read page by page.
struct Source<T> {
    waiting: std::vec::IntoIter<T>,
    is_at_end: bool,
}

impl<T> Default for Source<T> {
    fn default() -> Self {
        Self { waiting: Vec::new().into_iter(), is_at_end: false }
    }
}

impl<T> Source<T> {
    fn peek(&self) -> Option<&T> {
        self.waiting.as_slice().first()
    }

    fn is_empty(&self) -> bool {
        self.waiting.as_slice().is_empty()
    }
}

impl<'a> List<'a> {
    fn new(inspector: &'a Inspector<'a>, reached: ListCursor) -> Self {
        Self {
            inspector,
            responses: Source::default(),
            conversations: Source::default(),
            forests: HashMap::new(),
            reached,
            pages: 0,
        }
    }

    fn is_at_end(&self) -> bool {
        let ended = self.responses.is_at_end && self.conversations.is_at_end;
        ended && self.responses.is_empty() && self.conversations.is_empty()
    }

    /// The next group. `None` at the end, and at the bound of examined pages.
    async fn next(&mut self) -> Result<Option<(Shard, Group)>> {
        loop {
            if !self.fill().await? {
                return Ok(None);
            }
            let response = self.responses.peek().map(|it| it.recency.created_at);
            let conversation = self.conversations.peek().map(|it| it.created_at);
            let found = match response >= conversation {
                true => self.next_response().await?,
                false => self.next_conversation().await?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Reads the next pages, if they are needed. Returns `false` if nothing is left, or at the
    /// bound.
    async fn fill(&mut self) -> Result<bool> {
        let (listings, tenant) = self.inspector.listings();
        while self.responses.is_empty() && !self.responses.is_at_end {
            if self.pages == MAX_PAGES {
                return Ok(false);
            }
            self.pages += 1;
            let page = listings.newest_responses(tenant, self.reached.response).await?;
            self.responses.is_at_end = page.next.is_none();
            if page.entries.is_empty() {
                self.reached.response = page.next.or(self.reached.response);
            }
            self.responses.waiting = page.entries.into_iter();
        }
        if self.conversations.is_empty() && !self.conversations.is_at_end {
            let before = self.reached.conversation.clone();
            let page = listings.newest_conversations(tenant, before, CONVERSATIONS).await?;
            self.conversations.is_at_end = page.len() < CONVERSATIONS;
            self.conversations.waiting = page.into_iter();
        }
        Ok(!self.responses.is_empty() || !self.conversations.is_empty())
    }

    /// The group of the next response, if it is the newest turn of the group.
    async fn next_response(&mut self) -> Result<Option<(Shard, Group)>> {
        let Some(response) = self.responses.waiting.next() else { return Ok(None) };
        self.reached.response = Some(response.recency);
        let shard = response.id.shard();
        let (forest, newest) = self.forest(shard).await?;
        let Some(group) = forest.segment(&response.id).map(|segment| forest.group(segment)) else {
            return Ok(None);
        };
        let is_newest = newest.get(&group) == Some(&response.recency);
        Ok(is_newest.then_some((shard, group)))
    }

    /// The next conversation, if it has no turn.
    async fn next_conversation(&mut self) -> Result<Option<(Shard, Group)>> {
        let Some(conversation) = self.conversations.waiting.next() else { return Ok(None) };
        self.reached.conversation = Some((conversation.created_at, conversation.id.clone()));
        let (shard, group) = (conversation.id.shard(), Group::Conversation(conversation.id));
        let (_, newest) = self.forest(shard).await?;
        Ok((!newest.contains_key(&group)).then_some((shard, group)))
    }

    async fn forest(&mut self, shard: Shard) -> Result<&(Forest, HashMap<Group, Recency>)> {
        Ok(match self.forests.entry(shard) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let forest = self.inspector.forest(shard).await?;
                let newest = forest.newest();
                place.insert((forest, newest))
            }
        })
    }

    /// The summary of a group, if it matches the search.
    async fn entry(
        &self,
        shard: Shard,
        group: &Group,
        search: Option<&str>,
    ) -> Result<Option<Summary>> {
        let Some((forest, _)) = self.forests.get(&shard) else { return Ok(None) };
        let Some(thread) = forest.main_thread(group) else { return Ok(None) };
        let path = forest.path(thread, None);
        if let Some(search) = search
            && !self.is_match(forest, group, &path, search).await?
        {
            return Ok(None);
        }
        summary::summary(self.inspector, forest, group, &path, &summary::LISTED).await.map(Some)
    }

    /// Whether the id, the metadata or one of the newest items contains a text.
    async fn is_match(
        &self,
        forest: &Forest,
        group: &Group,
        path: &super::forest::Path<'_>,
        search: &str,
    ) -> Result<bool> {
        let ids = path.turns().map(|(_, turn, _)| turn.listed.id.as_str());
        let id = forest.id(group).unwrap_or_default();
        if id.contains(search) || ids.into_iter().any(|id| id.contains(search)) {
            return Ok(true);
        }
        if let Group::Conversation(id) = group
            && let Some((conversation, _)) = forest.conversation(id)
            && metadata(conversation).iter().any(|(key, value)| {
                key.to_lowercase().contains(search) || value.to_lowercase().contains(search)
            })
        {
            return Ok(true);
        }
        if !self.inspector.shows_bodies {
            return Ok(false);
        }
        let end = path.end();
        let range = (end.saturating_sub(SEARCHED_ITEMS), end);
        let items = self.inspector.items(forest, path, range).await?;
        Ok(items.values().any(|item| contains(item, search)))
    }
}

/// Whether the JSON of an item contains a text, in any case.
fn contains(item: &HeldItem, search: &str) -> bool {
    let text = item.body.bytes().map(|raw| String::from_utf8_lossy(raw).to_lowercase());
    text.is_some_and(|text| text.contains(search))
}
