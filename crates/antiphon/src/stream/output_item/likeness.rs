//! Whether a finished item that an upstream gives is one that was told of already.

use super::{OutputItem, State, shape};
use crate::item::{CallKey, Item, Side};

/// How like a finished item is to an output item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Likeness {
    /// It is another one.
    Stranger,
    /// It goes by the same name and says something else.
    Kin,
    /// It says the same and goes by another name or none.
    Alike,
    /// It says the same and goes by the same name.
    Same,
}

/// Whether two items go by the same name.
#[derive(PartialEq)]
enum Naming {
    Same,
    Other,
    /// One of them has none.
    Unknown,
}

/// How an upstream comes to give a finished item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Occasion {
    /// As the end of an item, by the announcement that tells of it.
    End,
    /// As the end of an item, by another announcement of it.
    OtherEnd,
    /// In the finished response, to be known by its name.
    FinalByName,
    /// In the finished response, to be known by what it says.
    FinalBySaying,
}

impl OutputItem {
    /// How like `item` is to this one.
    ///
    /// Names alone decide nothing: some servers change ids between announcement and end, some give
    /// every item one id, some announce a call twice. What was said decides beside them.
    pub(in super::super) fn likeness(&self, item: &Item, occasion: Occasion) -> Likeness {
        if self.given.head().kind != item.head().kind {
            return Likeness::Stranger;
        }
        let naming = naming(&self.given, item);
        let is_call = call_of(item).is_some();
        let is_open = self.is_open();
        match (self.may_say(item), naming) {
            (true, Naming::Same) => Likeness::Same,
            (true, _) if occasion == Occasion::FinalByName => Likeness::Stranger,
            (true, Naming::Unknown) => Likeness::Alike,
            (true, Naming::Other) if self.may_be_renamed(item, occasion) => Likeness::Alike,
            (false, Naming::Same) if !is_call => Likeness::Kin,
            (false, Naming::Same) if is_open && self.may_contradict(item, occasion) => {
                Likeness::Kin
            }
            (false, Naming::Unknown) if is_open && occasion == Occasion::End => Likeness::Kin,
            _ => Likeness::Stranger,
        }
    }

    /// Whether `item` says the same, or, while this one is open, goes on from what was said.
    fn may_say(&self, item: &Item) -> bool {
        match &self.state {
            State::Open(told) => told.leads_to(item),
            State::Ended { item: ended, .. } => {
                let item = shape::ended(item, &self.names, "completed");
                item.raw() == ended.raw() || item.says_the_same_as(ended)
            }
        }
    }

    /// Whether the upstream announces this item once more, by its name.
    pub(in super::super) fn is_announced_by(&self, item: &Item) -> bool {
        self.given.head().kind == item.head().kind && naming(&self.given, item) == Naming::Same
    }

    /// Whether the upstream announces this item once more, where it does so at the same index and
    /// without a name.
    pub(in super::super) fn is_announced_at_its_index_by(&self, item: &Item) -> bool {
        self.is_open()
            && self.given.head().kind == item.head().kind
            && tool(&self.given) == tool(item)
            && naming(&self.given, item) == Naming::Unknown
    }

    /// Whether a call of the same name that says something else can be meant for it.
    fn may_contradict(&self, item: &Item, occasion: Occasion) -> bool {
        match occasion {
            Occasion::End => true,
            Occasion::OtherEnd => false,
            Occasion::FinalByName | Occasion::FinalBySaying => {
                self.given.head().id == item.head().id
            }
        }
    }

    /// Whether an item of another name can be meant for it: the end of what is open, or, in the
    /// finished response, what is no call.
    fn may_be_renamed(&self, item: &Item, occasion: Occasion) -> bool {
        match occasion {
            Occasion::End if self.is_open() => tool(&self.given) == tool(item),
            Occasion::End | Occasion::OtherEnd => call_of(item).is_none() && !self.is_silent(),
            Occasion::FinalByName | Occasion::FinalBySaying => call_of(item).is_none(),
        }
    }
}

/// Calls go by their `call_id` and the name of their tool, other items by their id.
fn naming(one: &Item, two: &Item) -> Naming {
    if let (Some(a), Some(b)) = (call_of(one), call_of(two)) {
        return naming_of(a == b && tool(one) == tool(two));
    }
    match (&one.head().id, &two.head().id) {
        (Some(one), Some(two)) => naming_of(one == two),
        _ => Naming::Unknown,
    }
}

fn naming_of(is_same: bool) -> Naming {
    if is_same { Naming::Same } else { Naming::Other }
}

/// The key of a call that has a `call_id`.
pub(in super::super) fn call_of(item: &Item) -> Option<CallKey> {
    let (side, key) = item.head().pairing()?;
    (side == Side::Call && !key.call_id.as_str().is_empty()).then_some(key)
}

fn tool(item: &Item) -> Option<String> {
    let object = item.object();
    object.string("name").map(std::borrow::Cow::into_owned)
}
