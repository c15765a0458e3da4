//! [`antiphon::stateful`] for Node.

use antiphon::item::FingerprintKey;
use antiphon::reconcile::ReplayStyle;
use antiphon::stateful;
use bytes::Bytes;
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi_derive::napi;

use crate::text::{Text, bytes_of};

/// The known state of the conversations and chains of servers.
#[napi]
pub struct StatefulClient(stateful::StatefulClient);

#[napi]
impl StatefulClient {
    /// Creates a client without any known state.
    #[napi(constructor)]
    pub fn new() -> napi::Result<Self> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(Self(stateful::StatefulClient::new(FingerprintKey::new(key))))
    }

    /// Begins a turn of the client that this `User-Agent` names. `None` for an invalid body.
    #[napi]
    pub fn open(&self, account: String, user_agent: String, body: Text) -> Option<Turn> {
        let (style, body) = (ReplayStyle::from_user_agent(&user_agent), bytes_of(body));
        Some(Turn::new(self.0.open_as(&account, style, body.clone()).ok()?, body))
    }

    /// Begins a delivery of items. `None` if the text is not an array of items.
    #[napi]
    pub fn deliver(&self, account: String, conversation: String, items: Text) -> Option<Turn> {
        let body = bytes_of(items);
        Some(Turn::new(self.0.deliver(&account, &conversation, &body).ok()?, body))
    }

    /// Records that a request other than a turn changed the conversation.
    #[napi]
    pub fn mark_stale(&self, account: String, conversation: String) {
        self.0.mark_stale(&account, &conversation);
    }
}

/// One turn.
#[napi]
pub struct Turn(Stage);

/// The stage of a turn.
enum Stage {
    /// The turn is open. `body` is the original body of the request.
    Open { turn: Box<stateful::Turn>, body: Bytes },
    /// The turn is over. Only the report stays in memory until Node collects the object.
    Over(stateful::Report),
}

impl Turn {
    fn new(turn: stateful::Turn, body: Bytes) -> Self {
        Self(Stage::Open { turn: Box::new(turn), body })
    }

    fn open(&mut self) -> Option<&mut stateful::Turn> {
        match &mut self.0 {
            Stage::Open { turn, .. } => Some(turn),
            Stage::Over(_) => None,
        }
    }

    /// Calls the turn a last time, and ends it. `None` after its end.
    fn end<T>(&mut self, call: impl FnOnce(&mut stateful::Turn) -> T) -> Option<T> {
        let turn = self.open()?;
        let result = call(turn);
        self.0 = Stage::Over(turn.report());
        Some(result)
    }
}

#[napi]
impl Turn {
    /// The next step.
    #[napi]
    pub fn step(&self) -> Step {
        let Stage::Open { turn, body: given } = &self.0 else { return Step::new("nothing") };
        match turn.step() {
            stateful::Step::Ask { method, path } => {
                Step { method: Some(method.as_str()), path: Some(path), ..Step::new("ask") }
            }
            stateful::Step::Send { body } => {
                let changed = (body != given).then(|| body.to_vec().into());
                Step { body: changed, ..Step::new("send") }
            }
            stateful::Step::GiveUp => Step::new("give_up"),
            stateful::Step::Nothing => Step::new("nothing"),
        }
    }

    /// The milliseconds to wait before the next step.
    #[napi]
    pub fn wait(&self) -> Option<u32> {
        let Stage::Open { turn, .. } = &self.0 else { return None };
        turn.wait().map(|wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX))
    }

    /// Records the server's answer to a list or delete request.
    #[napi]
    pub fn record_answer(&mut self, status: u16, body: Uint8Array) {
        if let Some(turn) = self.open() {
            turn.record_answer(status, Bytes::copy_from_slice(&body));
        }
    }

    /// Records that the server rejected the request.
    #[napi]
    pub fn record_rejection(&mut self, status: u16, body: Uint8Array) {
        if let Some(turn) = self.open() {
            turn.record_rejection(status, Bytes::copy_from_slice(&body));
        }
    }

    /// Records the start of the server's answer. `now` is in Unix seconds.
    #[napi]
    pub fn start(&mut self, is_event_stream: bool, now: i64) {
        if let Some(turn) = self.open() {
            turn.start(is_event_stream, now);
        }
    }

    /// Takes the next bytes of the answer, and returns those for the caller. `now` is in Unix
    /// seconds.
    #[napi]
    pub fn push(&mut self, bytes: &[u8], now: i64) -> Buffer {
        let shown = self.open().map(|turn| turn.push(bytes, now));
        shown.unwrap_or_default().to_vec().into()
    }

    /// Records the end of the answer, and returns the last bytes for the caller. `now` is in Unix
    /// seconds.
    #[napi]
    pub fn finish(&mut self, now: i64) -> Buffer {
        self.end(|turn| turn.finish(now)).unwrap_or_default().to_vec().into()
    }

    /// Records that the answer broke off, or that its reader stopped.
    #[napi]
    pub fn abandon(&mut self) {
        self.end(stateful::Turn::abandon);
    }

    /// The items that were left out, and the repairs.
    #[napi]
    pub fn report(&self) -> Report {
        match &self.0 {
            Stage::Open { turn, .. } => Report::from_report(turn.report()),
            Stage::Over(report) => Report::from_report(report.clone()),
        }
    }
}

/// The next step of a turn.
#[napi(object, object_from_js = false)]
pub struct Step {
    /// `ask`, `send`, `give_up` or `nothing`
    pub kind: &'static str,
    /// The method of an `ask`.
    pub method: Option<&'static str>,
    /// The path and query of an `ask` below the base URL.
    pub path: Option<String>,
    /// The body of a `send`. Without one it uses the original body.
    pub body: Option<Buffer>,
}

impl Step {
    fn new(kind: &'static str) -> Self {
        Self { kind, method: None, path: None, body: None }
    }
}

/// The items that were left out, and the repairs.
#[napi(object, object_from_js = false)]
pub struct Report {
    /// The number of items that the server already held.
    pub resent: u32,
    /// The repairs.
    pub mends: Vec<Repair>,
    /// The fault for which the server rejected the first attempt.
    pub relearned: Option<&'static str>,
    /// Whether items were left out by type, because the server's items are unknown.
    pub by_kind: bool,
    /// The headers of this report: a name and a value each.
    pub headers: Vec<Vec<String>>,
}

impl Report {
    fn from_report(report: stateful::Report) -> Self {
        let headers = report.headers().into_iter().map(|(name, value)| vec![name.into(), value]);
        Self {
            headers: headers.collect(),
            resent: count(report.resent),
            mends: report.repairs.into_iter().map(Repair::from_report).collect(),
            relearned: report.resynced_after,
            by_kind: report.by_kind,
        }
    }
}

/// One repair.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Repair {
    /// The item's position in the input; null for one that the server holds.
    pub position: Option<u32>,
    /// The item's id, if it has one.
    pub id: Option<String>,
    /// The item's type.
    pub kind: String,
    /// The fault's name.
    pub fault: &'static str,
    /// The action.
    pub action: &'static str,
    /// The provider's error text.
    pub message: String,
}

impl Repair {
    fn from_report(repair: stateful::ReportedRepair) -> Self {
        Self {
            position: repair.position.map(count),
            id: repair.id.map(|id| id.to_string()),
            kind: repair.kind.as_str().to_owned(),
            fault: repair.fault,
            action: repair.action,
            message: repair.message,
        }
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
