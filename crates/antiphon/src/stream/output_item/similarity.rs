//! Decides whether a finished item of the upstream is one of the items in the stream.

use super::{OutputItem, State, shape};
use crate::item::{CallKey, Item, Side};

/// The similarity of an upstream's finished item to an output item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Similarity {
    /// A different item.
    Different,
    /// The same name, other content.
    SameName,
    /// The same content, another name or none.
    SameContent,
    /// The same name and content.
    Identical,
}

/// The comparison of two items' names.
#[derive(PartialEq)]
enum Naming {
    Same,
    Other,
    /// One of the two has no name.
    Unknown,
}

/// The event that brings a finished item, and the way in which it is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum MatchMode {
    /// The end of an item, for the announcement whose events count.
    Done,
    /// The end of an item, for another announcement of it.
    OtherDone,
    /// In the finished response, matched by name.
    FinalByName,
    /// In the finished response, matched by content.
    FinalByContent,
}

impl OutputItem {
    /// Compares `item` with this one.
    ///
    /// Names alone are not enough: some servers change ids between announcement and end, some give
    /// every item the same id, some announce a call twice. So the content is compared too.
    pub(in super::super) fn similarity(&self, item: &Item, mode: MatchMode) -> Similarity {
        if self.upstream_item.head().kind != item.head().kind {
            return Similarity::Different;
        }
        let naming = compare_names(&self.upstream_item, item);
        let is_call = call_key(item).is_some();
        let is_open = self.is_open();
        match (self.may_have_content_of(item), naming) {
            (true, Naming::Same) => Similarity::Identical,
            (true, _) if mode == MatchMode::FinalByName => Similarity::Different,
            (true, Naming::Unknown) => Similarity::SameContent,
            (true, Naming::Other) if self.may_be_renamed(item, mode) => Similarity::SameContent,
            (false, Naming::Same) if !is_call => Similarity::SameName,
            (false, Naming::Same) if is_open && self.may_contradict(item, mode) => {
                Similarity::SameName
            }
            (false, Naming::Unknown) if is_open && mode == MatchMode::Done => Similarity::SameName,
            _ => Similarity::Different,
        }
    }

    /// Whether `item` has the same content or, while this one is open, continues the content so
    /// far.
    fn may_have_content_of(&self, item: &Item) -> bool {
        match &self.state {
            State::Open(content) => content.is_prefix_of(item),
            State::Ended { item: ended, .. } => {
                let item = shape::ended_item(item, item.object(), &self.names, "completed");
                item.raw() == ended.raw() || item.has_same_content(ended)
            }
        }
    }

    /// Whether `item` is a repeated announcement of this item, by its name.
    pub(in super::super) fn is_announced_by(&self, item: &Item) -> bool {
        self.upstream_item.head().kind == item.head().kind
            && compare_names(&self.upstream_item, item) == Naming::Same
    }

    /// Whether `item`, announced at the same index and without a name, is a repeated announcement
    /// of this item.
    pub(in super::super) fn is_announced_at_its_index_by(&self, item: &Item) -> bool {
        self.is_open()
            && self.upstream_item.head().kind == item.head().kind
            && tool(&self.upstream_item) == tool(item)
            && compare_names(&self.upstream_item, item) == Naming::Unknown
    }

    /// Whether a call with the same name and other content may be this item.
    fn may_contradict(&self, item: &Item, mode: MatchMode) -> bool {
        match mode {
            MatchMode::Done => true,
            MatchMode::OtherDone => false,
            MatchMode::FinalByName | MatchMode::FinalByContent => {
                self.upstream_item.head().id == item.head().id
            }
        }
    }

    /// Whether an item with another name may be this one: the end of an open item or, in the
    /// finished response, an item other than a call.
    fn may_be_renamed(&self, item: &Item, mode: MatchMode) -> bool {
        match mode {
            MatchMode::Done if self.is_open() => tool(&self.upstream_item) == tool(item),
            MatchMode::Done | MatchMode::OtherDone => {
                call_key(item).is_none() && !self.has_no_content()
            }
            MatchMode::FinalByName | MatchMode::FinalByContent => call_key(item).is_none(),
        }
    }
}

/// A call's name is its `call_id` with the name of its tool; any other item's name is its id.
fn compare_names(one: &Item, two: &Item) -> Naming {
    if let (Some(a), Some(b)) = (call_key(one), call_key(two)) {
        return naming_from(a == b && tool(one) == tool(two));
    }
    match (&one.head().id, &two.head().id) {
        (Some(one), Some(two)) => naming_from(one == two),
        _ => Naming::Unknown,
    }
}

fn naming_from(is_same: bool) -> Naming {
    if is_same { Naming::Same } else { Naming::Other }
}

/// The key of a call with a non-empty `call_id`.
pub(in super::super) fn call_key(item: &Item) -> Option<CallKey> {
    let (side, key) = item.head().pairing()?;
    (side == Side::Call && !key.call_id.as_str().is_empty()).then_some(key)
}

fn tool(item: &Item) -> Option<String> {
    let object = item.object();
    object.string("name").map(std::borrow::Cow::into_owned)
}
