//! A gateway in front of a strict provider that keeps the state.

use antiphon_gateway::settings::{Preset, Retries, Settings, State, UpstreamSettings};
use antiphon_mock::{Answer, Exchange, Recorded, Script, StrictProvider};
use serde_json::{Value, json};

use crate::support::{Ask, Client, Gateways, default_settings, frames_until, lines, soon, text};

/// A gateway, and the provider behind it. At its end no model was given anything twice.
pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    gateways: Gateways,
    /// Whether its callers say the same twice, so that a model may be given it twice.
    pub(crate) repeats: bool,
}

impl World {
    /// A gateway with the usual settings.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A gateway with settings that differ from the usual ones.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::before(StrictProvider::start().await, change).await
    }

    /// A gateway with the usual settings in front of this provider.
    pub(crate) async fn of(provider: StrictProvider) -> Self {
        Self::before(provider, |_| {}).await
    }

    /// Several gateways on one database.
    pub(crate) async fn replicas(count: usize) -> Self {
        Self::replicas_with(count, |_| {}).await
    }

    /// Several gateways on one database, with settings that differ from the usual ones.
    pub(crate) async fn replicas_with(count: usize, change: impl FnOnce(&mut Settings)) -> Self {
        let provider = StrictProvider::start().await;
        let mut settings = settings(&provider);
        change(&mut settings);
        Self { provider, gateways: Gateways::replicas(settings, count).await, repeats: false }
    }

    /// A gateway with settings that differ from the usual ones, in front of this provider.
    pub(crate) async fn before(
        provider: StrictProvider,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut settings = settings(&provider);
        change(&mut settings);
        Self { provider, gateways: Gateways::start(settings).await, repeats: false }
    }

    /// Ends the gateway in the middle of whatever it does, and starts another on its store.
    pub(crate) async fn kill_and_start(&mut self) {
        self.gateways.kill_and_start().await;
    }

    /// Ends one of several gateways in the middle of whatever it does.
    pub(crate) async fn kill(&mut self, index: usize) {
        self.gateways.kill(index).await;
    }

    /// The bytes of all files of the store, or of the items and copies in the database.
    pub(crate) async fn stored_bytes(&self) -> Vec<u8> {
        self.gateways.stored_bytes().await
    }

    /// Makes everything in the gateway's store older by this number of days.
    pub(crate) async fn age_by_days(&self, days: i64) {
        self.gateways.age_by_days(days).await;
    }

    /// A caller of one of several gateways.
    pub(crate) fn client_of(&self, index: usize) -> Client {
        self.gateways.client_of(index)
    }

    /// The same, with settings that differ from now on.
    pub(crate) async fn start_again_with(&mut self, change: impl FnOnce(&mut Settings)) {
        self.gateways.start_again_with(change).await;
    }

    /// A caller of the gateway with this token.
    pub(crate) fn caller(&self, token: &str) -> Client {
        self.gateways.caller(token)
    }

    /// A caller of the gateway.
    pub(crate) fn client(&self) -> Client {
        self.gateways.client()
    }

    /// A caller of the provider, past the gateway, to whom the same things belong.
    pub(crate) fn past_gateway(&self) -> Client {
        Client::at(&format!("http://{}", self.provider.address()))
    }

    /// A conversation of the provider that the gateway has not heard of; its id.
    pub(crate) async fn conversation(&self) -> String {
        let created = self.past_gateway().post("/v1/conversations", &json!({})).await.json();
        text(&created["id"]).to_owned()
    }

    /// Streams a turn with this answer and disconnects after the first event of type `event`.
    /// Returns the response's id.
    pub(crate) async fn abort_at(&self, event: &str, answer: Answer, body: &Ask) -> String {
        let sent = frames_until(&answer, event);
        let exchange = self.provider.script(Script::from(answer).hang_after(sent));
        let mut events = self.client().stream(body).await;
        let id = events.response_id().await;
        events.until(event).await;
        drop(events);
        self.wait_for_disconnect(&exchange).await;
        id
    }

    /// What a conversation of the provider holds, in words.
    pub(crate) fn holds(&self, conversation: &str) -> Vec<String> {
        lines(&self.items(conversation))
    }

    /// What a conversation of the provider holds.
    pub(crate) fn items(&self, conversation: &str) -> Vec<Value> {
        self.provider.conversation_items(conversation).expect("there is such a conversation")
    }

    /// The latest request for a turn that came to the provider, which accepted it.
    pub(crate) fn last_turn(&self) -> Recorded {
        let turns = self.provider.turns();
        let turn = turns.last().expect("the provider was asked").clone();
        assert_eq!(turn.verdict, Ok(()), "the provider accepts {}", turn.body);
        turn
    }

    /// The input of the latest turn, as it was sent, in words.
    pub(crate) fn sent(&self) -> Vec<String> {
        lines(self.last_turn().input())
    }

    /// What the model was given in the latest turn, in words.
    pub(crate) fn given(&self) -> Vec<String> {
        lines(&self.last_turn().model_input.expect("a model was asked"))
    }

    /// How many turns the provider refused.
    pub(crate) fn refused_turns(&self) -> usize {
        self.provider.turns().iter().filter(|turn| turn.verdict.is_err()).count()
    }

    /// How often the provider was asked what it holds.
    pub(crate) fn times_learnt(&self) -> usize {
        let requests = self.provider.requests();
        let of_gateway = requests.iter().filter(|it| it.method == http::Method::GET);
        of_gateway.count()
    }

    /// Waits until the provider has refused a request.
    pub(crate) async fn refused_once(&self) {
        let mut index = 0;
        while self.provider.request(index).await.verdict.is_ok() {
            index += 1;
        }
    }

    /// Waits until the gateway has left the provider in the middle of its answer.
    pub(crate) async fn wait_for_disconnect(&self, exchange: &Exchange) {
        soon("the provider is left", exchange.wait_for_disconnect()).await;
    }
}

/// The usual settings of a gateway in front of this provider.
pub(crate) fn settings(provider: &StrictProvider) -> Settings {
    let url = provider.base_url().parse().expect("it is a URL");
    let upstream = UpstreamSettings {
        state: State::Upstream,
        capabilities: Some(Preset::OpenAi.capabilities()),
        retries: Retries::none(),
        ..UpstreamSettings::new(url, None)
    };
    Settings { upstreams: vec![upstream], ..default_settings() }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.repeats {
            assert_eq!(self.provider.duplicates(), [], "no model was given anything twice");
        }
    }
}
