//! The handle of a model.

use std::env;
use std::fmt;
use std::sync::Arc;

use antiphon_client::{Client, Secret, UpstreamApi};

use super::{Backend, ScriptedAnswer, ScriptedBackend, Server};

/// A model of a backend. Clones share the backend.
///
/// ```
/// use antiphon_agents::model::{Model, ModelRequest};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let model = Model::scripted(["Hello."]);
/// let answer = model.backend().respond(ModelRequest::new(model.name())).await.unwrap();
/// assert_eq!(answer.finish().await.unwrap().text(), "Hello.");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    name: String,
    backend: Arc<dyn Backend>,
    /// The client of a model over HTTP.
    client: Option<(Client, Option<Secret>)>,
}

impl Model {
    /// The model `name` of a backend.
    pub fn new(name: impl Into<String>, backend: impl Backend) -> Self {
        Self { name: name.into(), backend: Arc::new(backend), client: None }
    }

    /// A model of a server of the Responses API: OpenAI, or the gateway. The URL is
    /// `OPENAI_BASE_URL` or OpenAI's, and the key is `OPENAI_API_KEY`.
    pub fn responses(name: impl Into<String>) -> Self {
        Self::over_http(name, UpstreamApi::Responses)
    }

    /// A model of a server of Chat Completions. The URL is `OPENAI_BASE_URL` or OpenAI's, and the
    /// key is `OPENAI_API_KEY`. The server stores no state.
    pub fn chat(name: impl Into<String>) -> Self {
        Self::over_http(name, UpstreamApi::Chat)
    }

    /// A model of a server of Anthropic's Messages. The URL is `ANTHROPIC_BASE_URL` or
    /// Anthropic's, and the key is `ANTHROPIC_API_KEY`. The server stores no state.
    pub fn anthropic(name: impl Into<String>) -> Self {
        Self::over_http(name, UpstreamApi::Anthropic)
    }

    /// A model that gives these answers in order, for tests. A [`ScriptedBackend`] also has the
    /// requests that it received.
    pub fn scripted(answers: impl IntoIterator<Item = impl Into<ScriptedAnswer>>) -> Self {
        Self::new("scripted", ScriptedBackend::new(answers))
    }

    /// The built-in model, which needs no server and no key.
    #[cfg(feature = "sim")]
    pub fn sim() -> Self {
        Self::new(antiphon_sim::NAME, super::Sim)
    }

    /// Uses the server at this base URL: `http://localhost:8080/v1`.
    ///
    /// # Panics
    /// If the model is not one of a server: a scripted model, for example.
    #[must_use]
    pub fn at(self, base_url: impl Into<String>) -> Self {
        self.with_client(|client, key| {
            let moved = Client::new(base_url).with_api(client.api());
            (keyed(moved, key.as_ref()), key)
        })
    }

    /// Sends this key.
    ///
    /// # Panics
    /// If the model is not one of a server: a scripted model, for example.
    #[must_use]
    pub fn key(self, key: impl Into<Secret>) -> Self {
        let key = Some(key.into());
        self.with_client(|client, _| (keyed(client, key.as_ref()), key))
    }

    /// The name of the model, for [`ModelRequest::model`](super::ModelRequest::model).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The backend.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// The vendor whose API the server has; `None` for a model without a server.
    pub(crate) fn provider(&self) -> Option<&'static str> {
        let (client, _) = self.client.as_ref()?;
        Some(match client.api() {
            UpstreamApi::Responses | UpstreamApi::Chat => "openai",
            UpstreamApi::Anthropic => "anthropic",
        })
    }

    fn over_http(name: impl Into<String>, api: UpstreamApi) -> Self {
        let (prefix, base) = match api {
            UpstreamApi::Responses | UpstreamApi::Chat => ("OPENAI", "https://api.openai.com/v1"),
            UpstreamApi::Anthropic => ("ANTHROPIC", "https://api.anthropic.com/v1"),
        };
        let setting = |suffix: &str| {
            let text = env::var(format!("{prefix}_{suffix}")).ok();
            text.filter(|text| !text.is_empty())
        };
        let base = setting("BASE_URL").unwrap_or_else(|| base.to_owned());
        let key = setting("API_KEY").map(Secret::new);
        let client = keyed(Client::new(base).with_api(api), key.as_ref());
        Self::from_client(name.into(), client, key)
    }

    fn from_client(name: String, client: Client, key: Option<Secret>) -> Self {
        let backend = Arc::new(Server::new(client.clone()));
        Self { name, backend, client: Some((client, key)) }
    }

    fn with_client(
        self,
        change: impl FnOnce(Client, Option<Secret>) -> (Client, Option<Secret>),
    ) -> Self {
        let (client, key) = self.client.expect("only a model of a server has a URL and a key");
        let (client, key) = change(client, key);
        Self::from_client(self.name, client, key)
    }
}

fn keyed(client: Client, key: Option<&Secret>) -> Client {
    match key {
        Some(key) => client.with_key(key.clone()),
        None => client,
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("name", &self.name).finish_non_exhaustive()
    }
}
