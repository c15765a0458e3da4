//! A client of one server.

mod conversations;
mod responses;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use antiphon::dialect::{UpstreamApi, Vendor};
use antiphon::item::FingerprintKey;
use antiphon::stateful::StatefulClient;
use antiphon::transcript::Origin;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Uri, header};
use http_body_util::Full;

pub use conversations::Conversations;
pub(crate) use conversations::MarkStale;
pub use responses::Responses;

use crate::connection::{Connection, HttpAnswer};
use crate::ids::random_bytes;
use crate::timeouts::Deadlines;
use crate::{Answer, Error, ErrorKind, Rejection, Request, Secret, Timeouts};

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A client of one server. Clones share its connections, and its knowledge of the items that the
/// server stores.
///
/// The server may speak the Responses API (OpenAI, the gateway and others), Chat Completions or
/// Anthropic's Messages; requests and answers have the form of the Responses API for all of them.
/// The last two store no state.
///
/// Guarantees for servers with state:
///
/// - Items that the server is known to have are not sent again, and items that it would refuse are
///   repaired. [`Answer::report`] has the changes.
/// - Unknown state is asked for, never assumed; also after an answer that broke off.
/// - A request is sent once more only after the server has refused it because of its state, or
///   because a model has no encrypted reasoning.
///
/// ```
/// use antiphon_client::{Client, Request};
/// use antiphon_mock::{Answer, StrictProvider};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let provider = StrictProvider::start().await;
/// provider.script(Answer::new("m").message("Hello."));
///
/// let client = Client::new(provider.base_url()).with_key("sk-1");
/// let answer = client.respond(Request::new("m").text("Hi")).await.unwrap();
/// assert_eq!(answer.finish().await.unwrap().text(), "Hello.");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Client {
    settings: Arc<Settings>,
    connection: Connection,
    pub(crate) state: StatefulClient,
    /// The models that refuse to encrypt their reasoning.
    unencrypted: Arc<Mutex<HashSet<String>>>,
}

#[derive(Clone)]
struct Settings {
    base: String,
    api: UpstreamApi,
    key: Option<Secret>,
    headers: Vec<(String, String)>,
    timeouts: Timeouts,
    /// The name of the account in the client's knowledge. It changes with the credentials.
    account: String,
}

impl Client {
    /// A client of the Responses API below this URL: `https://api.openai.com/v1`. An invalid URL
    /// is an error of each request.
    pub fn new(base_url: impl Into<String>) -> Self {
        let timeouts = Timeouts::default();
        Self {
            connection: Connection::new(timeouts.connect),
            state: StatefulClient::new(FingerprintKey::new(random_bytes())),
            unencrypted: Arc::default(),
            settings: Arc::new(Settings {
                base: base_url.into().trim_end_matches('/').to_owned(),
                api: UpstreamApi::Responses,
                key: None,
                headers: Vec::new(),
                timeouts,
                account: new_account(),
            }),
        }
    }

    /// Sends this key. A client with another key does not use the knowledge of this one.
    #[must_use]
    pub fn with_key(self, key: impl Into<Secret>) -> Self {
        let key = Some(key.into());
        self.with(|settings| (settings.key, settings.account) = (key, new_account()))
    }

    /// Speaks this API.
    #[must_use]
    pub fn with_api(self, api: UpstreamApi) -> Self {
        self.with(|settings| settings.api = api)
    }

    /// Sends this header with each request.
    #[must_use]
    pub fn with_header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let header = (name.into(), value.into());
        self.with(|settings| {
            settings.headers.push(header);
            settings.account = new_account();
        })
    }

    /// Uses these time limits. The client gets connections of its own.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        let connection = Connection::new(timeouts.connect);
        Self { connection, ..self.with(|settings| settings.timeouts = timeouts) }
    }

    /// Starts an answer, as a stream.
    pub async fn respond(&self, request: Request) -> Result<Answer, Error> {
        let model = request.model();
        let mut request = request;
        if request.wants_encrypted_reasoning && !self.is_unencrypted(&model) {
            request.include_encrypted_reasoning();
            match self.respond_once(request.clone()).await {
                Err(error) if is_about_encryption(&error) => self.note_unencrypted(model),
                outcome => return outcome,
            }
            request.exclude_encrypted_reasoning();
        }
        self.respond_once(request).await
    }

    async fn respond_once(&self, request: Request) -> Result<Answer, Error> {
        match self.settings.api {
            UpstreamApi::Responses => self.respond_with_state(request).await,
            UpstreamApi::Chat | UpstreamApi::Anthropic => self.respond_stateless(request).await,
        }
    }

    /// The conversations of the server.
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations::new(self)
    }

    /// The stored responses of the server.
    pub fn responses(&self) -> Responses<'_> {
        Responses::new(self)
    }

    /// The API of the server.
    pub fn api(&self) -> UpstreamApi {
        self.settings.api
    }

    /// The base URL, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.settings.base
    }

    /// The origin of encrypted reasoning of this model.
    pub fn origin(&self, model: &str) -> Origin {
        let url = self.settings.base.parse::<Uri>().ok();
        let server = url.as_ref().and_then(Uri::authority).map(ToString::to_string);
        let server = server.unwrap_or_else(|| self.settings.base.clone());
        Origin::new(format!("{server} {model}"))
    }

    pub(crate) fn account(&self) -> &str {
        &self.settings.account
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    fn is_unencrypted(&self, model: &str) -> bool {
        self.unencrypted.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    fn note_unencrypted(&self, model: String) {
        self.unencrypted.lock().unwrap_or_else(PoisonError::into_inner).insert(model);
    }
}

/// Whether the server refused to encrypt the reasoning of a model: `Encrypted content is not
/// supported with this model.`
fn is_about_encryption(error: &Error) -> bool {
    error.rejection().is_some_and(|rejection| {
        let message = rejection.message.to_ascii_lowercase();
        (400..500).contains(&rejection.status)
            && message.contains("encrypted")
            && message.contains("support")
    })
}

/// A name that no other client has.
fn new_account() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("account {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The time in Unix seconds.
#[expect(clippy::disallowed_methods, reason = "the one place where the client reads the clock")]
pub(crate) fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

/// Requests.
impl Client {
    /// Sends a request to a path below the base URL, and returns the answer with any status.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<HttpAnswer, Error> {
        let request = self.http_request(method, path, body)?;
        self.connection.send(request, Deadlines::new(self.settings.timeouts)).await
    }

    /// Sends a request for an answer of one JSON object.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Bytes, Error> {
        let answer = self.exchange(method, path, body).await?;
        let (status, headers, body) = answer.read().await?;
        if status.is_success() {
            return Ok(body);
        }
        let rejection = Rejection::new(status.as_u16(), &headers, &body, unix_now());
        Err(ErrorKind::Rejected(rejection).into())
    }

    fn http_request(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<http::Request<Full<Bytes>>, Error> {
        let Settings { base, api, key, headers, .. } = &*self.settings;
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{base}{path}"))
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("antiphon/", env!("CARGO_PKG_VERSION")));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if api.vendor() == Vendor::Anthropic {
            request = request.header("anthropic-version", ANTHROPIC_VERSION);
        }
        if let Some(key) = key {
            let (name, value) = credential(*api, key)?;
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(Full::new(body.unwrap_or_default())).map_err(|error| {
            ErrorKind::InvalidRequest(format!("the URL '{base}{path}' or a header: {error}")).into()
        })
    }
}

/// The header that carries a key.
fn credential(api: UpstreamApi, key: &Secret) -> Result<(HeaderName, HeaderValue), Error> {
    let (name, text) = match api.vendor() {
        Vendor::OpenAi => (header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
        Vendor::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
    };
    let mut value = HeaderValue::try_from(zeroize::Zeroizing::new(text).as_str())
        .map_err(|_| ErrorKind::InvalidRequest("the key has invalid characters".to_owned()))?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { base, api, .. } = &*self.settings;
        f.debug_struct("Client").field("base_url", base).field("api", api).finish_non_exhaustive()
    }
}
