//! Adds the new items of an input to the stored items of a conversation.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::{Doubts, Reconciliation, ReplayStyle, Resent, Rule, Verdict};
use crate::faults::{Fault, OmissionReason, Refusal};
use crate::item::{DerivedIds, FingerprintKey, InferredPairs, Item, ItemId, Kind, Side};
use crate::placeholder::late_output_message;
use crate::transcript::{HeldItem, Origin, Transcript};

/// The items of a conversation after an input was added.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The stored items, followed by the new ones.
    pub transcript: Transcript,
    /// The number of stored items.
    pub held: usize,
    /// The position in the input of each new item.
    pub sources: Vec<usize>,
    /// The treatment of each item of the input.
    pub treatments: Vec<Treatment>,
    /// New items that may be resent ones.
    pub doubts: Doubts,
    /// Whether the input refers to items that the transcript lacks.
    pub names_unknown: bool,
}

/// The treatment of one item of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Left out: the transcript has it.
    Resent(Resent),
    /// Left out: an earlier attempt at the request stored it, at this position of the transcript if
    /// that is known.
    StoredBefore(Option<usize>),
    /// Left out for this reason.
    Omitted(OmissionReason),
    /// Replaced with a message that has its text, because the placeholder at this position of the
    /// transcript answers its call already.
    Late {
        /// The position of the placeholder.
        placeholder: usize,
    },
    /// Added.
    New,
    /// Added under this id, because another item has its own id.
    Renamed(ItemId),
    /// Added without an id, because another item has its own id.
    Unnamed,
}

/// The name in reports of the rule for an item that an earlier attempt at the same request stored.
pub const SAME_REQUEST: &str = "same_request";

impl Treatment {
    /// The stored item that stands for one that was left out: its position in the transcript, the
    /// name of the rule that matched it, and whether the content differs.
    pub fn stored_item(&self) -> Option<(usize, &'static str, bool)> {
        match self {
            Self::Resent(resent) => Some((resent.held, resent.rule.name(), resent.differs)),
            Self::StoredBefore(held) => held.map(|held| (held, SAME_REQUEST, false)),
            _ => None,
        }
    }
}

/// The record of the stored items to which an input is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionMode {
    /// A store that has all items.
    Store,
    /// The ledger of a gateway. The provider may have more items.
    Ledger,
    /// The record of a client. The provider may have more items, issues the ids, and rejects an
    /// output without a call itself.
    Client,
}

/// The input that an earlier attempt at the request stored.
#[derive(Clone, Debug)]
pub enum StoredInput {
    /// All of it.
    All,
    /// The items at these positions of the input. Each value is a position in the transcript.
    Items(HashMap<usize, usize>),
}

impl Default for StoredInput {
    fn default() -> Self {
        Self::Items(HashMap::new())
    }
}

/// The rules of an admission.
#[derive(Clone, Debug)]
pub struct AdmissionRules {
    /// The key of the stored fingerprints.
    pub key: FingerprintKey,
    /// The record of the stored items.
    pub mode: AdmissionMode,
    /// Whether repeated items, and old outputs without a call, are rejected.
    pub is_strict: bool,
    /// How the client resends its history.
    pub style: ReplayStyle,
    /// The input that is stored already.
    pub stored: StoredInput,
    /// New items to leave out, by their position in the input.
    pub omitted: HashMap<usize, OmissionReason>,
    /// The origins of new items, by their position in the input.
    pub origins: HashMap<usize, Origin>,
}

impl AdmissionRules {
    /// The rules for a new input.
    pub fn new(key: FingerprintKey, mode: AdmissionMode, is_strict: bool) -> Self {
        let (omitted, origins) = (HashMap::new(), HashMap::new());
        let (style, stored) = (ReplayStyle::Unknown, StoredInput::default());
        Self { key, mode, is_strict, style, stored, omitted, origins }
    }
}

impl Admission {
    /// Compares `input` with `transcript`, and adds its new items to the stored ones. `issue_id`
    /// issues the ids of items that cannot have their own.
    ///
    /// # Errors
    /// The provider's error for the first item that the rules reject.
    pub fn new(
        transcript: Transcript,
        input: &[Item],
        rules: &AdmissionRules,
        issue_id: &mut dyn FnMut(&Kind) -> ItemId,
    ) -> Result<Self, Refusal> {
        let reconciliation = Reconciliation::new(&transcript, input, rules.key, rules.style);
        Self::from_verdicts(transcript, input, reconciliation, rules, issue_id)
    }

    /// Like [`new`](Self::new), for an input that was compared already: with the transcript, or
    /// with the beginning of it.
    ///
    /// # Errors
    /// The provider's error for the first item that the rules reject.
    pub fn from_verdicts(
        transcript: Transcript,
        input: &[Item],
        reconciliation: Reconciliation,
        rules: &AdmissionRules,
        issue_id: &mut dyn FnMut(&Kind) -> ItemId,
    ) -> Result<Self, Refusal> {
        let Reconciliation { verdicts, doubts } = reconciliation;
        let is_unknown = |(position, item): (usize, &Item)| {
            let named = item.head().id.as_ref().filter(|_| is_reference(item));
            !rules.omitted.contains_key(&position)
                && named.is_some_and(|id| transcript.position(id).is_none())
        };
        let names_unknown =
            rules.mode != AdmissionMode::Store && input.iter().enumerate().any(is_unknown);
        let admission = Self {
            held: transcript.items().len(),
            sources: Vec::new(),
            treatments: Vec::with_capacity(input.len()),
            doubts,
            names_unknown,
            transcript,
        };
        let last_message = input.iter().rposition(|item| item.head().kind == Kind::Message);
        let mut admitting = Admitting {
            admission,
            input,
            verdicts: &verdicts,
            pairable: OnceCell::new(),
            rules,
            last_message,
            derived: DerivedIds::default(),
            issue_id,
        };
        for (position, item) in input.iter().enumerate() {
            let treatment = admitting.admit(position, item, verdicts[position]);
            let treatment = treatment.map_err(|fault| fault.refusal(position))?;
            admitting.admission.treatments.push(treatment);
        }
        Ok(admitting.admission)
    }

    /// The late outputs: the position in the input, and the position of the placeholder in the
    /// transcript.
    pub fn late(&self) -> impl Iterator<Item = (usize, usize)> {
        self.treatments.iter().enumerate().filter_map(|(position, treatment)| match treatment {
            Treatment::Late { placeholder } => Some((position, *placeholder)),
            _ => None,
        })
    }

    /// The position in the input of the item at this position of the transcript; `None` for a
    /// stored item.
    pub fn source(&self, at: usize) -> Option<usize> {
        self.sources.get(at.checked_sub(self.held)?).copied()
    }

    /// Whether an output has its call; true for other items.
    pub fn has_call(&self, item: &Item) -> bool {
        let Some((Side::Output, key)) = item.head().pairing() else { return true };
        self.transcript.exchange(&key).is_some_and(|exchange| !exchange.calls.is_empty())
    }
}

/// An admission of which some items are still missing.
struct Admitting<'a> {
    admission: Admission,
    input: &'a [Item],
    verdicts: &'a [Verdict],
    /// The positions in the input of the outputs that a repair can pair.
    pairable: OnceCell<HashSet<usize>>,
    rules: &'a AdmissionRules,
    /// The position of the last message in the input.
    last_message: Option<usize>,
    /// The ids of items that lack the one that their kind needs.
    derived: DerivedIds,
    issue_id: &'a mut dyn FnMut(&Kind) -> ItemId,
}

impl Admitting<'_> {
    fn admit(
        &mut self,
        position: usize,
        item: &Item,
        verdict: Verdict,
    ) -> Result<Treatment, Fault> {
        if self.rules.is_strict {
            reject_repetition(item, verdict)?;
        }
        if verdict.is_fresh()
            && let Some(reason) = self.rules.omitted.get(&position)
        {
            return self.omit(item, *reason);
        }
        if let Some(treatment) = self.treatment_of_stored(position, verdict) {
            return Ok(treatment);
        }
        Ok(match verdict {
            Verdict::Resent(resent) => Treatment::Resent(resent),
            Verdict::Deleted => Treatment::Omitted(OmissionReason::Deleted),
            Verdict::Duplicate(_) => Treatment::Omitted(OmissionReason::Repeated),
            Verdict::LateOutput { placeholder } => {
                let message = late_output_message(item).expect("a late output is an output");
                let id = (self.issue_id)(&message.head().kind);
                let origin = Some(Origin::placeholder());
                self.push(position, HeldItem::new(id, &message, self.rules.key, origin));
                Treatment::Late { placeholder }
            }
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Replaces => {
                match self.reason_without_call(position, item)? {
                    Some(reason) => Treatment::Omitted(reason),
                    None => self.add(position, item, verdict),
                }
            }
        })
    }

    fn omit(&self, item: &Item, reason: OmissionReason) -> Result<Treatment, Fault> {
        if !self.rules.is_strict || reason != OmissionReason::BareReasoning {
            return Ok(Treatment::Omitted(reason));
        }
        let head = item.head();
        Err(match head.id.clone() {
            Some(id) => Fault::UnresolvedReference { id },
            None => Fault::MissingId { kind: head.kind.clone() },
        })
    }

    /// The treatment of an item that an earlier attempt stored.
    fn treatment_of_stored(&self, position: usize, verdict: Verdict) -> Option<Treatment> {
        match &self.rules.stored {
            StoredInput::All => Some(Treatment::StoredBefore(None)),
            StoredInput::Items(stored) => {
                let at = *stored.get(&position).filter(|_| verdict.is_fresh())?;
                Some(match self.admission.transcript.items()[at].is_tombstone() {
                    true => Treatment::Omitted(OmissionReason::Deleted),
                    false => Treatment::StoredBefore(Some(at)),
                })
            }
        }
    }

    /// The reason to leave out an output without a call. An output before a message is part of a
    /// resent history. After the last message it is a new result, which the provider rejects. It is
    /// added if its call may be among the items that the input refers to, or if a repair will pair
    /// it. Only a store knows that nobody made the request that an approval answers.
    fn reason_without_call(
        &self,
        position: usize,
        item: &Item,
    ) -> Result<Option<OmissionReason>, Fault> {
        let Some((Side::Output, key)) = item.head().pairing() else { return Ok(None) };
        let kind = item.head().kind.clone();
        let exchange = self.admission.transcript.exchange(&key);
        let rejects = self.rules.mode != AdmissionMode::Client;
        if exchange.is_none() && self.is_pairable(position) {
            return Ok(None);
        }
        if rejects && key.call_id.as_str().is_empty() && exchange.is_none() {
            return Err(match &item.head().call_id {
                Some(_) => Fault::EmptyCallId { kind },
                None => Fault::MissingCallId { kind },
            });
        }
        if kind == Kind::McpApprovalResponse && self.rules.mode != AdmissionMode::Store {
            return Ok(None);
        }
        let call = exchange.and_then(|it| it.waiting().next().or(it.calls.last().copied()));
        match call.map(|call| &self.admission.transcript.items()[call]) {
            Some(call) => Ok(call.is_tombstone().then_some(OmissionReason::CallCutShort)),
            None if self.admission.names_unknown => Ok(None),
            None if self.last_message > Some(position) && !self.rules.is_strict => {
                Ok(Some(OmissionReason::CallUnknown))
            }
            None if rejects => {
                Err(Fault::OutputWithoutCall { kind, call_id: item.head().call_id.clone() })
            }
            None => Ok(None),
        }
    }

    /// Whether a repair of the view pairs the output, because only one pairing is possible. A
    /// provider that has the stored items does not let them be repaired.
    fn is_pairable(&self, position: usize) -> bool {
        let is_store = self.rules.mode == AdmissionMode::Store;
        is_store && self.pairable.get_or_init(|| self.find_pairable()).contains(&position)
    }

    fn find_pairable(&self) -> HashSet<usize> {
        let stored = &self.admission.transcript.items()[..self.admission.held];
        let mut items: Vec<Item> = stored.iter().filter_map(HeldItem::outline).collect();
        let held = items.len();
        let is_new = |at: &usize| {
            let verdict = self.verdicts[*at];
            verdict.is_fresh()
                && !self.rules.omitted.contains_key(at)
                && self.treatment_of_stored(*at, verdict).is_none()
        };
        let new: Vec<usize> = (0..self.input.len()).filter(is_new).collect();
        items.extend(new.iter().map(|at| self.input[*at].clone()));
        let pairable = InferredPairs::find_outputs(&items).into_iter();
        pairable.filter_map(|at| new.get(at.checked_sub(held)?).copied()).collect()
    }

    fn add(&mut self, position: usize, item: &Item, verdict: Verdict) -> Treatment {
        let transcript = &self.admission.transcript;
        let is_free = |id: &ItemId| {
            transcript.position(id).is_none_or(|at| transcript.items()[at].is_tombstone())
        };
        let own_id = item.head().id.clone().filter(is_free);
        let has_own_id = own_id.is_some();
        let id = match own_id {
            Some(id) => id,
            None if item.lacks_own_id() => {
                self.derived.next(item, |id| transcript.position(id).is_some())
            }
            None => (self.issue_id)(&item.head().kind),
        };
        let item = match has_own_id {
            true => item.clone(),
            false => self.rules.mode.renamed(item, &id),
        };
        let treatment = match self.rules.mode {
            _ if verdict != Verdict::FreshUnderUsedId => Treatment::New,
            AdmissionMode::Client => Treatment::Unnamed,
            AdmissionMode::Store | AdmissionMode::Ledger => Treatment::Renamed(id.clone()),
        };
        let origin = self.rules.origins.get(&position).cloned();
        let held = HeldItem::new(id, &item, self.rules.key, origin);
        let supersedes = verdict == Verdict::Replaces;
        self.push(position, HeldItem { supersedes, ..held });
        treatment
    }

    fn push(&mut self, position: usize, held: HeldItem) {
        self.admission.sources.push(position);
        self.admission.transcript.push(held);
    }
}

impl AdmissionMode {
    /// The item without its own id. A client does not send its local id, and a reference keeps its
    /// id there, because it has no other content. The bytes change only if they have an id.
    fn renamed(self, item: &Item, id: &ItemId) -> Item {
        match self {
            _ if item.head().id.is_none() => item.clone(),
            Self::Client if is_reference(item) => item.clone(),
            Self::Client => item.with(|object| object.remove("id")),
            Self::Store | Self::Ledger => item.with(|object| object.set_string("id", id.as_str())),
        }
    }
}

fn is_reference(item: &Item) -> bool {
    item.head().kind == Kind::ItemReference
}

/// Rejects a repeated item with the provider's error.
fn reject_repetition(item: &Item, verdict: Verdict) -> Result<(), Fault> {
    let repeats = match verdict {
        Verdict::Duplicate(_) | Verdict::FreshUnderUsedId => true,
        Verdict::Resent(resent) => resent.rule == Rule::SameId,
        _ => false,
    };
    match item.head().id.clone().filter(|_| repeats && !is_reference(item)) {
        Some(id) => Err(Fault::DuplicateItem { id }),
        None => Ok(()),
    }
}
