//! The tool calls of an answer, and the call that each fragment belongs to.

use std::collections::HashMap;

use super::answer::LeftOut;
use super::call::Call;
use super::fragment::{EXTRA, Fragment, Key};
use super::item_emitter::ItemEmitter;
use crate::dialect::RequestContext;

/// The calls of an answer. A fragment belongs to a call by these keys:
///
/// - By `index`, which can begin with any number. A new id together with a name begins a new call
///   at the same index, because some servers send index 0 with every call.
/// - Without an index, by id. Without an id, each name begins a call. A fragment without id and
///   name belongs to the call of the last fragment.
///
/// An index takes precedence over an id: some servers send one id for all calls. The assembler
/// replaces an id that is taken.
#[derive(Debug)]
pub(super) struct Calls {
    context: RequestContext,
    list: Vec<Call>,
    by_key: HashMap<Key, usize>,
    by_id: HashMap<String, usize>,
    /// The call of the last fragment.
    last: Option<usize>,
    /// The number of deltas so far.
    deltas: u64,
}

impl Calls {
    /// No calls yet, in the answer to this request.
    pub(super) fn new(context: RequestContext) -> Self {
        let (by_key, by_id) = (HashMap::new(), HashMap::new());
        Self { context, list: Vec::new(), by_key, by_id, last: None, deltas: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Begins a delta.
    pub(super) fn begin_delta(&mut self) {
        self.deltas += 1;
    }

    /// Applies a fragment.
    pub(super) fn apply(&mut self, fragment: &Fragment<'_>, emitter: &mut ItemEmitter<'_>) {
        let known = self.find(fragment);
        let known = known.filter(|at| self.list[*at].continues_with(fragment, self.deltas));
        if known.is_none() || known != self.last {
            self.announce_last(emitter);
        }
        let at = known.unwrap_or_else(|| self.begin());
        self.record_keys(at, fragment);
        self.list[at].apply(fragment, self.deltas, &self.context, emitter);
        self.last = Some(at);
    }

    /// Announces the last call, whose name is complete because other output follows.
    pub(super) fn announce_last(&mut self, emitter: &mut ItemEmitter<'_>) {
        if let Some(last) = self.last {
            self.list[last].announce(&self.context, emitter);
        }
    }

    /// Completes all calls except the one at the index `except`.
    pub(super) fn complete(
        &mut self,
        except: Option<u64>,
        left_out: &mut LeftOut,
        emitter: &mut ItemEmitter<'_>,
    ) {
        for call in &mut self.list {
            call.complete(except, emitter);
            if call.lacks_seal() {
                left_out.note("field of a tool call", EXTRA, emitter.assembler);
            }
            if call.lacks_name() {
                left_out.note("a tool call without a name", "", emitter.assembler);
            }
        }
    }

    fn begin(&mut self) -> usize {
        self.list.push(Call::new(self.deltas));
        self.list.len() - 1
    }

    /// Finds a fragment's call by its key, its id or its position.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        match fragment.key {
            Some(key) => {
                self.by_key.get(&key).copied().or_else(|| self.find_indexed_late(fragment))
            }
            None => self.find_without_key(fragment),
        }
    }

    fn find_without_key(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let last = |is_it: fn(&Call) -> bool| self.last.filter(|at| is_it(&self.list[*at]));
        match (&fragment.id, &fragment.name) {
            (Some(id), None) => self.by_id.get(&**id).copied().or_else(|| last(Call::lacks_id)),
            (Some(id), Some(_)) => self.by_id.get(&**id).copied(),
            (None, Some(_)) => last(Call::lacks_name),
            (None, None) => self.last,
        }
    }

    /// Finds the call of a server that sends an index only from the second fragment on.
    fn find_indexed_late(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let continues_last = fragment.name.is_none() && fragment.id.is_none();
        self.last.filter(|at| continues_last && !self.list[*at].has_index)
    }

    /// Records the key and the id of a call.
    fn record_keys(&mut self, at: usize, fragment: &Fragment<'_>) {
        if let Some(key) = fragment.key {
            self.by_key.insert(key, at);
            self.list[at].has_index = true;
        }
        if let Some(id) = fragment.id.as_deref().filter(|_| self.list[at].lacks_id()) {
            self.list[at].set_id(id);
            self.by_id.insert(id.to_owned(), at);
        }
    }
}
