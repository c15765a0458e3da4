//! Servers, clients and items of the tests.

use antiphon::Item;
use antiphon::item::given;
use antiphon::tracker::ConversationId;
use antiphon_client::{Answered, Client, Request};
use antiphon_mock::{OnAbort, Options, StrictProvider};

pub(crate) const MODEL: &str = "plain-1";

/// A strict provider, its client and an empty conversation.
pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    pub(crate) client: Client,
    pub(crate) conversation: ConversationId,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn aborting(on_abort: OnAbort) -> Self {
        Self::with(Options { on_abort, ..Options::default() }).await
    }

    async fn with(options: Options) -> Self {
        let provider = StrictProvider::with_options(options).start().await;
        let client = client(&provider);
        let conversation = client.conversations().create(&[]).await;
        let conversation = conversation.expect("the provider creates conversations");
        Self { provider, client, conversation }
    }

    /// A request that continues the conversation.
    pub(crate) fn request(&self, items: impl IntoIterator<Item = Item>) -> Request {
        Request::new(MODEL).conversation(self.conversation.as_str()).items(items)
    }

    pub(crate) async fn answer(&self, items: impl IntoIterator<Item = Item>) -> Answered {
        let answer = self.client.respond(self.request(items)).await.expect("it is accepted");
        answer.finish().await.expect("the answer is whole")
    }

    /// Checks that the provider refused nothing and that no model received an item twice.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.provider.refusals(), []);
        assert_eq!(self.provider.duplicates(), []);
    }
}

pub(crate) fn client(provider: &StrictProvider) -> Client {
    Client::new(provider.base_url()).with_key("sk-test")
}

pub(crate) fn user(text: &str) -> Item {
    given::user(text)
}

pub(crate) fn output(call_id: &str, text: &str) -> Item {
    given::output(call_id, text)
}
