//! The trees of a shard: which turns belong together, and their paths.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use antiphon_store::{
    Conversation, ConversationId, LedgerEntry, LedgerSubject, ListedOpenTurn, ListedSegment,
    ListedTurn, Recency, ResponseId, Seq, Shard, ThreadId, Tree, Usage,
};

use super::model::TreeTurn;

/// The maximum number of turns in the tree of a view.
const MAX_TREE_TURNS: usize = 1000;

/// Turns that the inspector shows together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Group {
    /// Those of a conversation.
    Conversation(ConversationId),
    /// Those of a tree of forks that no conversation names, by its root.
    Chain(ThreadId),
}

/// The trees of a shard, with indexes.
pub(super) struct Forest {
    pub(super) shard: Shard,
    pub(super) tree: Tree,
    threads: HashMap<ThreadId, usize>,
    responses: HashMap<ResponseId, usize>,
    /// The range of each thread's segments.
    segments: HashMap<ThreadId, Range<usize>>,
}

/// A part of a thread that belongs to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) thread: ThreadId,
    pub(super) from: Seq,
    pub(super) end: Seq,
}

/// The items that one turn continues, up to the end of a thread. The positions of a fork continue
/// those of its parent.
pub(super) struct Path<'a> {
    pub(super) parts: Vec<Part>,
    /// The segments of the path, in order, with the sum of the live items before each.
    segments: Vec<(&'a ListedSegment, Usage)>,
    /// The indexes of the segments with which turns begin.
    turns: Vec<usize>,
    /// The live items of the whole path.
    pub(super) usage: Usage,
}

impl Forest {
    pub(super) fn new(shard: Shard, tree: Tree) -> Self {
        let threads = tree.threads.iter().enumerate();
        let threads = threads.map(|(at, thread)| (thread.record.thread, at)).collect();
        let responses = tree.segments.iter().enumerate().filter_map(|(at, segment)| {
            segment.response.as_ref().map(|turn| (turn.listed.id.clone(), at))
        });
        let responses = responses.collect();
        let mut segments: HashMap<ThreadId, Range<usize>> = HashMap::new();
        for (at, segment) in tree.segments.iter().enumerate() {
            segments.entry(segment.thread).or_insert(at..at).end = at + 1;
        }
        Self { shard, tree, threads, responses, segments }
    }

    /// The segment with which the turn of a response begins.
    pub(super) fn segment(&self, id: &ResponseId) -> Option<&ListedSegment> {
        self.responses.get(id).map(|at| &self.tree.segments[*at])
    }

    /// A conversation of the shard, and its thread.
    pub(super) fn conversation(&self, id: &ConversationId) -> Option<(&Conversation, ThreadId)> {
        self.tree.threads.iter().find_map(|thread| {
            let named = thread.conversation.as_ref().filter(|named| named.id == *id)?;
            Some((named, thread.record.thread))
        })
    }

    /// The group of a turn.
    pub(super) fn group(&self, segment: &ListedSegment) -> Group {
        let named = segment.response.as_ref().and_then(|turn| turn.listed.conversation.as_ref());
        if let Some(id) = named.filter(|id| self.conversation(id).is_some()) {
            return Group::Conversation(id.clone());
        }
        self.group_of_thread(segment.thread)
    }

    fn group_of_thread(&self, thread: ThreadId) -> Group {
        let root = self.root(thread);
        let at = self.threads.get(&root);
        match at.and_then(|at| self.tree.threads[*at].conversation.as_ref()) {
            Some(conversation) => Group::Conversation(conversation.id.clone()),
            None => Group::Chain(root),
        }
    }

    /// The thread that all forks of a tree come from.
    fn root(&self, thread: ThreadId) -> ThreadId {
        let record = self.threads.get(&thread).map(|at| &self.tree.threads[*at].record);
        record.and_then(|record| record.lineage.first()).map_or(thread, |(root, _)| *root)
    }

    /// The turns of a group.
    pub(super) fn turns<'a, 'g>(
        &'a self,
        group: &'g Group,
    ) -> impl Iterator<Item = &'a ListedSegment> + use<'a, 'g> {
        let turns = self.tree.segments.iter().filter(|segment| segment.response.is_some());
        turns.filter(move |segment| self.group(segment) == *group)
    }

    /// The position of the newest turn of each group.
    pub(super) fn newest(&self) -> HashMap<Group, Recency> {
        let mut newest = HashMap::new();
        for segment in &self.tree.segments {
            let Some(turn) = &segment.response else { continue };
            let latest = newest.entry(self.group(segment)).or_insert(turn.listed.recency);
            *latest = turn.listed.recency.max(*latest);
        }
        newest
    }

    /// The id of a group: that of the conversation, or of the first response of the chain.
    pub(super) fn id(&self, group: &Group) -> Option<String> {
        match group {
            Group::Conversation(id) => Some(id.to_string()),
            Group::Chain(_) => {
                let turns = self.turns(group).filter_map(|segment| segment.response.as_ref());
                turns.min_by_key(|turn| turn.listed.recency).map(|turn| turn.listed.id.to_string())
            }
        }
    }

    /// The open turn of a group that began last, in any process.
    pub(super) fn open_turn(&self, group: &Group) -> Option<&ListedOpenTurn> {
        self.tree.open_turns.iter().rev().find(|turn| match (&turn.conversation, turn.thread) {
            (Some(id), _) => *group == Group::Conversation(id.clone()),
            (None, Some(thread)) => self.group_of_thread(thread) == *group,
            (None, None) => false,
        })
    }

    /// The ledger of a group: that of its conversation, or of its newest response.
    pub(super) fn ledger(&self, group: &Group) -> Option<&(String, LedgerEntry)> {
        let subject = match group {
            Group::Conversation(id) => LedgerSubject::Conversation(id.clone()),
            Group::Chain(_) => {
                LedgerSubject::Response(self.newest_turn(group)?.1.listed.id.clone())
            }
        };
        self.tree.ledgers.iter().find(|(_, entry)| entry.subject == subject)
    }

    /// The turn of a group that began last.
    fn newest_turn(&self, group: &Group) -> Option<(&ListedSegment, &ListedTurn)> {
        let turns = self.turns(group);
        let turns = turns.filter_map(|segment| Some((segment, segment.response.as_ref()?)));
        turns.max_by_key(|(_, turn)| turn.listed.recency)
    }

    /// The thread that the view of a group shows: that of the conversation, or that of the newest
    /// turn.
    pub(super) fn main_thread(&self, group: &Group) -> Option<ThreadId> {
        match group {
            Group::Conversation(id) => self.conversation(id).map(|(_, thread)| thread),
            Group::Chain(_) => self.newest_turn(group).map(|(segment, _)| segment.thread),
        }
    }

    /// The path to the end of a thread, or to `end` in it.
    pub(super) fn path(&self, thread: ThreadId, end: Option<Seq>) -> Path<'_> {
        let mut parts = Vec::new();
        if let Some(at) = self.threads.get(&thread) {
            let record = &self.tree.threads[*at].record;
            let mut from = 0;
            for (id, upto) in &record.lineage {
                parts.push(Part { thread: *id, from, end: *upto });
                from = *upto;
            }
            parts.push(Part { thread, from, end: end.unwrap_or(record.tip) });
        }
        Path::new(self, parts)
    }

    /// The segments of a thread from a position on.
    fn segments_from(&self, thread: ThreadId, from: Seq) -> &[ListedSegment] {
        let range = self.segments.get(&thread).cloned().unwrap_or_default();
        let segments = &self.tree.segments[range];
        &segments[segments.partition_point(|segment| segment.first < from)..]
    }

    /// The tree of a group's turns, oldest first. `shown` is the path of the view. Beyond a bound,
    /// only the newest turns are in the tree.
    pub(super) fn tree_turns(&self, group: &Group, shown: &Path<'_>) -> Vec<TreeTurn> {
        let turns = self.turns(group);
        let mut turns: Vec<_> =
            turns.filter_map(|segment| Some((segment, segment.response.as_ref()?))).collect();
        turns.sort_by_key(|(_, turn)| turn.listed.recency);
        let dropped = turns.len().saturating_sub(MAX_TREE_TURNS);
        let on_path: HashSet<&ResponseId> =
            shown.turns().map(|(_, turn, _)| &turn.listed.id).collect();
        let turns = turns[dropped..].iter();
        turns
            .map(|(segment, turn)| TreeTurn {
                response: turn.listed.id.to_string(),
                parent: self.parent(segment).map(|turn| turn.listed.id.to_string()),
                shown: on_path.contains(&turn.listed.id),
            })
            .collect()
    }

    /// The last turn before this one on its path.
    pub(super) fn parent(&self, segment: &ListedSegment) -> Option<&ListedTurn> {
        let at = *self.threads.get(&segment.thread)?;
        let lineage = self.tree.threads[at].record.lineage.iter().copied();
        let threads = lineage.chain([(segment.thread, segment.first)]);
        threads.rev().find_map(|(thread, end)| self.last_turn_before(thread, end))
    }

    fn last_turn_before(&self, thread: ThreadId, end: Seq) -> Option<&ListedTurn> {
        let segments = &self.tree.segments[self.segments.get(&thread)?.clone()];
        let before = &segments[..segments.partition_point(|segment| segment.first < end)];
        let turns = before.iter().rev().filter_map(|segment| segment.response.as_ref());
        turns.into_iter().find(|turn| turn.end <= end)
    }
}

impl<'a> Path<'a> {
    fn new(forest: &'a Forest, parts: Vec<Part>) -> Self {
        let (mut segments, mut turns, mut usage) = (Vec::new(), Vec::new(), Usage::default());
        for part in &parts {
            let inside = forest.segments_from(part.thread, part.from).iter();
            for segment in inside.take_while(|segment| segment.first < part.end) {
                if segment.response.as_ref().is_some_and(|turn| turn.end <= part.end) {
                    turns.push(segments.len());
                }
                segments.push((segment, usage));
                usage = usage + segment.live;
            }
        }
        Self { parts, segments, turns, usage }
    }

    /// The number of turns.
    pub(super) fn count_turns(&self) -> usize {
        self.turns.len()
    }

    /// The turns in order, each with its segment and the live items before it.
    pub(super) fn turns(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a ListedSegment, &'a ListedTurn, Usage)> + '_ {
        self.turns.iter().map(|at| {
            let (segment, before) = self.segments[*at];
            (segment, segment.response.as_ref().expect("a turn begins here"), before)
        })
    }

    /// The position after the last item.
    pub(super) fn end(&self) -> Seq {
        self.parts.last().map_or(0, |part| part.end)
    }
}
