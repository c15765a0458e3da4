//! The tool calls of an answer, and which of them a delta speaks of.

use std::collections::HashMap;

use super::call::Call;
use super::fragment::{EXTRA, Fragment, Key};
use super::left_out::LeftOut;
use super::teller::Teller;
use crate::dialect::Asked;

/// The calls, told apart by what their server counts them by.
///
/// - By `index`, whatever number it begins with. A new id together with a name is a new call at the
///   same index: some servers send index 0 with every call.
/// - Without an index by id, else by the names: each begins a call. What has neither id nor name
///   goes on with the call that was spoken of last.
///
/// Ids do not tell apart what indexes do: some servers give all calls one id. An id that is taken is
/// replaced by the assembler.
#[derive(Debug)]
pub(super) struct Calls {
    asked: Asked,
    list: Vec<Call>,
    by_key: HashMap<Key, usize>,
    by_id: HashMap<String, usize>,
    /// The call that was spoken of last.
    last: Option<usize>,
    /// How many deltas there were.
    deltas: u64,
}

impl Calls {
    /// None yet, of an answer to a request of which this is known.
    pub(super) fn new(asked: Asked) -> Self {
        let (by_key, by_id) = (HashMap::new(), HashMap::new());
        Self { asked, list: Vec::new(), by_key, by_id, last: None, deltas: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A delta begins.
    pub(super) fn begin_delta(&mut self) {
        self.deltas += 1;
    }

    /// Takes what the delta says of one call.
    pub(super) fn hear(&mut self, fragment: &Fragment<'_>, teller: &mut Teller<'_>) {
        let known = self.find(fragment);
        let known = known.filter(|at| self.list[*at].goes_on_with(fragment, self.deltas));
        if known.is_none() || known != self.last {
            self.settle(teller);
        }
        let at = known.unwrap_or_else(|| self.begin());
        self.enter(at, fragment);
        self.list[at].hear(fragment, self.deltas, &self.asked, teller);
        self.last = Some(at);
    }

    /// Something else speaks: the name that came last is whole.
    pub(super) fn settle(&mut self, teller: &mut Teller<'_>) {
        if let Some(last) = self.last {
            self.list[last].announce(&self.asked, teller);
        }
    }

    /// All calls are whole, but for the one at the index `except`.
    pub(super) fn complete(
        &mut self,
        except: Option<u64>,
        left_out: &mut LeftOut,
        teller: &mut Teller<'_>,
    ) {
        for call in &mut self.list {
            call.complete(except, teller);
            if call.lacks_seal() {
                left_out.note("field of a tool call", EXTRA, teller.assembler);
            }
            if call.lacks_name() {
                left_out.note("a tool call without a name", "", teller.assembler);
            }
        }
    }

    fn begin(&mut self) -> usize {
        self.list.push(Call::new(self.deltas));
        self.list.len() - 1
    }

    /// The call that a fragment speaks of, as far as it is known by where it stands.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        match fragment.key {
            Some(key) => {
                self.by_key.get(&key).copied().or_else(|| self.find_counted_late(fragment))
            }
            None => self.find_uncounted(fragment),
        }
    }

    fn find_uncounted(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let last = |is_it: fn(&Call) -> bool| self.last.filter(|at| is_it(&self.list[*at]));
        match (&fragment.id, &fragment.name) {
            (Some(id), None) => self.by_id.get(&**id).copied().or_else(|| last(Call::lacks_id)),
            (Some(id), Some(_)) => self.by_id.get(&**id).copied(),
            (None, Some(_)) => last(Call::lacks_name),
            (None, None) => self.last,
        }
    }

    /// Some servers count a call from its second piece on.
    fn find_counted_late(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let goes_on = fragment.name.is_none() && fragment.id.is_none();
        self.last.filter(|at| goes_on && !self.list[*at].is_counted)
    }

    /// Enters what the call goes by from now on.
    fn enter(&mut self, at: usize, fragment: &Fragment<'_>) {
        if let Some(key) = fragment.key {
            self.by_key.insert(key, at);
            self.list[at].is_counted = true;
        }
        if let Some(id) = fragment.id.as_deref().filter(|_| self.list[at].lacks_id()) {
            self.list[at].take_id(id);
            self.by_id.insert(id.to_owned(), at);
        }
    }
}
