//! What stands beside a client, for Node.

use antiphon::companion;
use antiphon::item::FingerprintKey;
use bytes::Bytes;
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi_derive::napi;

use crate::text::{Text, bytes_of};

/// What is known of the conversations and chains of servers.
#[napi]
pub struct Companion(companion::Companion);

#[napi]
impl Companion {
    /// A companion that knows nothing yet.
    #[napi(constructor)]
    pub fn new() -> napi::Result<Self> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(Self(companion::Companion::new(FingerprintKey::new(key))))
    }

    /// Begins a turn; nothing for a body that begins none.
    #[napi]
    pub fn open(&self, account: String, body: Text) -> Option<Turn> {
        let body = bytes_of(body);
        Some(Turn::of(self.0.open(&account, body.clone()).ok()?, body))
    }

    /// Begins a delivery of items; nothing for what is no array of items.
    #[napi]
    pub fn deliver(&self, account: String, conversation: String, items: Text) -> Option<Turn> {
        let body = bytes_of(items);
        Some(Turn::of(self.0.deliver(&account, &conversation, &body).ok()?, body))
    }

    /// Something else than a turn changed the conversation.
    #[napi]
    pub fn touched(&self, account: String, conversation: String) {
        self.0.touched(&account, &conversation);
    }
}

/// One turn.
#[napi]
pub struct Turn(Stage);

/// Where a turn is.
enum Stage {
    /// On its way; with the request's body, as it came.
    Open { turn: Box<companion::Turn>, body: Bytes },
    /// Over: this was done. Nothing else is kept, since it may be long until Node collects it.
    Over(companion::Report),
}

impl Turn {
    fn of(turn: companion::Turn, body: Bytes) -> Self {
        Self(Stage::Open { turn: Box::new(turn), body })
    }

    fn open(&mut self) -> Option<&mut companion::Turn> {
        match &mut self.0 {
            Stage::Open { turn, .. } => Some(turn),
            Stage::Over(_) => None,
        }
    }

    /// The last thing that a turn is told.
    fn end(&mut self, tell: impl FnOnce(&mut companion::Turn)) {
        let Some(turn) = self.open() else { return };
        tell(turn);
        self.0 = Stage::Over(turn.report());
    }
}

#[napi]
impl Turn {
    /// What is to be done next.
    #[napi]
    pub fn step(&self) -> Step {
        let Stage::Open { turn, body: given } = &self.0 else { return Step::of("nothing") };
        match turn.step() {
            companion::Step::Ask { method, path, body } => Step {
                method: Some(method.as_str()),
                path: Some(path),
                body: body.map(|body| body.to_vec().into()),
                ..Step::of("ask")
            },
            companion::Step::Send { body } => {
                let changed = (body != given).then(|| body.to_vec().into());
                Step { body: changed, ..Step::of("send") }
            }
            companion::Step::GiveUp => Step::of("give_up"),
            companion::Step::Nothing => Step::of("nothing"),
        }
    }

    /// How many milliseconds to wait before doing that.
    #[napi]
    pub fn wait(&self) -> Option<u32> {
        let Stage::Open { turn, .. } = &self.0 else { return None };
        turn.wait().map(|wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX))
    }

    /// What the server says to what was asked.
    #[napi]
    pub fn answered(&mut self, status: u16, body: Uint8Array) {
        if let Some(turn) = self.open() {
            turn.answered(status, Bytes::copy_from_slice(&body));
        }
    }

    /// The server refused the request.
    #[napi]
    pub fn refused(&mut self, status: u16, body: Uint8Array) {
        if let Some(turn) = self.open() {
            turn.refused(status, Bytes::copy_from_slice(&body));
        }
    }

    /// The server answers the request.
    #[napi]
    pub fn begun(&mut self, is_event_stream: bool) {
        if let Some(turn) = self.open() {
            turn.begun(is_event_stream);
        }
    }

    /// Bytes of the answer.
    #[napi]
    pub fn heard(&mut self, bytes: &[u8]) {
        if let Some(turn) = self.open() {
            turn.heard(bytes);
        }
    }

    /// The answer is over.
    #[napi]
    pub fn ended(&mut self) {
        self.end(companion::Turn::ended);
    }

    /// The answer broke off, or nobody reads it any more.
    #[napi]
    pub fn left(&mut self) {
        self.end(companion::Turn::left);
    }

    /// What was left out and mended.
    #[napi]
    pub fn report(&self) -> Report {
        match &self.0 {
            Stage::Open { turn, .. } => Report::of(turn.report()),
            Stage::Over(report) => Report::of(report.clone()),
        }
    }
}

/// What is to be done next.
#[napi(object, object_from_js = false)]
pub struct Step {
    /// `ask`, `send`, `give_up` or `nothing`
    pub kind: &'static str,
    /// Of what is asked.
    pub method: Option<&'static str>,
    /// Of what is asked, below the base URL.
    pub path: Option<String>,
    /// Of what is asked or sent; nothing to send is the body that came.
    pub body: Option<Buffer>,
}

impl Step {
    fn of(kind: &'static str) -> Self {
        Self { kind, method: None, path: None, body: None }
    }
}

/// What was left out and mended.
#[napi(object, object_from_js = false)]
pub struct Report {
    /// How many items the server held already.
    pub resent: u32,
    /// What was mended.
    pub mends: Vec<Mend>,
    /// What the server refused of the request as it was first sent.
    pub relearned: Option<&'static str>,
    /// Whether items were left out by their kind.
    pub by_kind: bool,
    /// The headers that tell of it: a name and a value each.
    pub headers: Vec<Vec<String>>,
}

impl Report {
    fn of(report: companion::Report) -> Self {
        let headers = report.headers().into_iter().map(|(name, value)| vec![name.into(), value]);
        Self {
            headers: headers.collect(),
            resent: count(report.resent),
            mends: report.mends.into_iter().map(Mend::of).collect(),
            relearned: report.relearned,
            by_kind: report.by_kind,
        }
    }
}

/// One thing that was mended.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Mend {
    /// The item's position in the input; null for one that the server holds.
    pub position: Option<u32>,
    /// The item's id, where it has one.
    pub id: Option<String>,
    /// What the item is.
    pub kind: String,
    /// The fault's name.
    pub fault: &'static str,
    /// What was done.
    pub action: &'static str,
    /// The provider's words.
    pub message: String,
}

impl Mend {
    fn of(mending: companion::Mending) -> Self {
        Self {
            position: mending.position.map(count),
            id: mending.id.map(|id| id.to_string()),
            kind: mending.kind.as_str().to_owned(),
            fault: mending.fault,
            action: mending.action,
            message: mending.message,
        }
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
