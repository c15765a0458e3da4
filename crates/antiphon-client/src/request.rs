//! A request for an answer.

use antiphon::Item;
use antiphon::json::{Object, quote, unquote};
use bytes::Bytes;
use serde::Serialize;

/// The value of `include` that asks for encrypted reasoning.
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// The fields of a request for an answer of a model, as the Responses API has them.
///
/// ```
/// use antiphon_client::Request;
///
/// let request = Request::new("gpt-5.6").text("Hello").conversation("conv_1");
/// let body = r#"{"model":"gpt-5.6","input":"Hello","conversation":"conv_1"}"#;
/// assert_eq!(request.body(), body);
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    /// The fields but `input` and `tools`: names and raw values.
    fields: Vec<(String, String)>,
    input: Input,
    tools: Vec<String>,
    pub(crate) is_exact: bool,
    pub(crate) wants_encrypted_reasoning: bool,
}

#[derive(Clone, Debug)]
enum Input {
    None,
    Text(String),
    Items(Vec<Item>),
}

impl Request {
    /// A request to a model.
    pub fn new(model: &str) -> Self {
        Self {
            fields: vec![("model".to_owned(), quote(model))],
            input: Input::None,
            tools: Vec::new(),
            is_exact: false,
            wants_encrypted_reasoning: false,
        }
    }

    /// Sets the instructions.
    #[must_use]
    pub fn instructions(self, instructions: &str) -> Self {
        self.field("instructions", instructions)
    }

    /// Sets the input to a text of the user.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        Self { input: Input::Text(text.into()), ..self }
    }

    /// Adds items to the input. A text before them becomes a message.
    #[must_use]
    pub fn items(mut self, items: impl IntoIterator<Item = Item>) -> Self {
        let mut input = self.take_items();
        input.extend(items);
        Self { input: Input::Items(input), ..self }
    }

    /// Continues a conversation.
    #[must_use]
    pub fn conversation(self, id: &str) -> Self {
        self.field("conversation", id)
    }

    /// Continues a response.
    #[must_use]
    pub fn previous_response(self, id: &str) -> Self {
        self.field("previous_response_id", id)
    }

    /// Adds a tool.
    ///
    /// # Panics
    /// If `tool` is not valid JSON: a map with keys that are not texts, for example.
    #[must_use]
    pub fn tool(mut self, tool: impl Serialize) -> Self {
        self.tools.push(raw(&tool));
        self
    }

    /// Sets any other field.
    ///
    /// # Panics
    /// If `value` is not valid JSON: a map with keys that are not texts, for example.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl Serialize) -> Self {
        self.set(name, raw(&value));
        self
    }

    /// Sends the items as they are. Without it, a client leaves out the items that the server has,
    /// and repairs the others.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// Asks for encrypted reasoning, if the model has it, so that a request without server state
    /// can return it to the model.
    ///
    /// In the items of the answer, the reasoning names its origin: a later request returns it to
    /// the same server and model only, and leaves it out for all others.
    #[must_use]
    pub fn encrypted_reasoning(self) -> Self {
        Self { wants_encrypted_reasoning: true, ..self }
    }

    /// The body, as it is sent if nothing is left out or repaired.
    pub fn body(&self) -> Bytes {
        let mut body = String::from("{");
        let input = self.input_field().map(|raw| ("input", raw));
        let tools =
            (!self.tools.is_empty()).then(|| ("tools", format!("[{}]", self.tools.join(","))));
        let named = self.fields.iter().map(|(name, raw)| (name.as_str(), raw.clone()));
        let (model, others) = (named.clone().take(1), named.skip(1));
        for (name, raw) in model.chain(input).chain(others).chain(tools) {
            if body.len() > 1 {
                body.push(',');
            }
            body.push_str(&quote(name));
            body.push(':');
            body.push_str(&raw);
        }
        body.push('}');
        body.into()
    }

    fn input_field(&self) -> Option<String> {
        match &self.input {
            Input::None => None,
            Input::Text(text) => Some(quote(text)),
            Input::Items(items) => {
                let items: Vec<&str> = items.iter().map(Item::text).collect();
                Some(format!("[{}]", items.join(",")))
            }
        }
    }

    /// Adds encrypted reasoning to `include`.
    pub(crate) fn include_encrypted_reasoning(&mut self) {
        let mut include = self.include();
        if !include.iter().any(|it| it == ENCRYPTED) {
            include.push(ENCRYPTED.to_owned());
            self.set("include", raw(&include));
        }
    }

    /// Removes encrypted reasoning from `include`.
    pub(crate) fn exclude_encrypted_reasoning(&mut self) {
        let mut include = self.include();
        include.retain(|it| it != ENCRYPTED);
        match include.is_empty() {
            true => self.fields.retain(|(name, _)| name != "include"),
            false => self.set("include", raw(&include)),
        }
    }

    fn include(&self) -> Vec<String> {
        self.get("include").and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> String {
        let raw = self.get("model").unwrap_or_default();
        unquote(raw).map(std::borrow::Cow::into_owned).unwrap_or_default()
    }

    /// The raw value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, raw)| raw.as_str())
    }

    /// Sets a field to a raw value.
    pub(crate) fn set(&mut self, name: &str, raw: String) {
        match self.fields.iter_mut().find(|(field, _)| field == name) {
            Some(field) => field.1 = raw,
            None => self.fields.push((name.to_owned(), raw)),
        }
    }

    /// Takes the items of the input. A text is its message.
    pub(crate) fn take_items(&mut self) -> Vec<Item> {
        match std::mem::replace(&mut self.input, Input::None) {
            Input::None => Vec::new(),
            Input::Items(items) => items,
            Input::Text(text) => {
                let content = quote(&text);
                let message = format!(r#"{{"type":"message","role":"user","content":{content}}}"#);
                vec![Item::parse(message.into()).expect("the text above is an item")]
            }
        }
    }

    /// The items, if the input is a list.
    pub(crate) fn listed_items(&self) -> &[Item] {
        match &self.input {
            Input::Items(items) => items,
            Input::None | Input::Text(_) => &[],
        }
    }

    /// The same request with these items.
    pub(crate) fn with_items(self, items: Vec<Item>) -> Self {
        Self { input: Input::Items(items), ..self }
    }

    /// The state of a server that the request needs, if any: the name of the field.
    pub(crate) fn server_state(&self) -> Option<&'static str> {
        let is_set =
            |name: &&str| self.get(name).is_some_and(|raw| raw != "null" && raw != "false");
        ["conversation", "previous_response_id", "background"].into_iter().find(is_set)
    }

    /// The conversation that the request continues.
    pub(crate) fn conversation_id(&self) -> Option<String> {
        let raw = self.get("conversation")?;
        let nested = || Object::parse_str(raw).ok()?.string("id").map(String::from);
        unquote(raw).map(String::from).or_else(nested)
    }

    /// Whether the server keeps the response, so that its id can be used later.
    pub(crate) fn is_stored(&self) -> bool {
        self.get("store") != Some("false")
    }
}

fn raw(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the value is valid JSON")
}
