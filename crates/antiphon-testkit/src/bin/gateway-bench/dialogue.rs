//! The client side of one conversation.

use serde_json::json;

use crate::client::{Client, OpenReply, Reply};
use crate::marker::Marker;

/// The text of a user's message, after its mark.
const TEXT: &str = "Please tell me more about the harbour, its ships, and the people there.";
const TOOL: &str = r#"{"type":"function","name":"lookup","description":"Finds facts","strict":true,
    "parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],
    "additionalProperties":false}}"#;

/// A conversation, its form, and the answers received so far.
#[derive(Clone, Debug)]
pub(crate) struct Dialogue {
    number: u64,
    form: Form,
    streams: bool,
    uses_tool: bool,
    /// The number of complete turns.
    turns: u64,
    last: Last,
}

/// How a turn continues its dialogue.
#[derive(Clone, Debug)]
enum Form {
    /// The turn names the last response, if there is one, and has one new item.
    Chain,
    /// The turn names a conversation, and has one new item.
    Conversation(String),
    /// The turn names a conversation. The client records all items, and may send them again.
    Recorded { conversation: String, history: String, resends: bool },
}

/// The last complete answer.
#[derive(Clone, Debug, Default)]
struct Last {
    answer: u64,
    response_id: Option<String>,
    call_id: Option<String>,
}

impl Dialogue {
    /// A dialogue that continues by `previous_response_id`.
    pub(crate) fn chain(number: u64) -> Self {
        let last = Last::default();
        Self { number, form: Form::Chain, streams: false, uses_tool: false, turns: 0, last }
    }

    /// A dialogue in a new conversation, which stores its items.
    pub(crate) async fn conversation(number: u64, client: &Client) -> anyhow::Result<Self> {
        let form = Form::Conversation(create_conversation(client).await?);
        Ok(Self { form, ..Self::chain(number) })
    }

    /// The client records the items of its conversation.
    pub(crate) fn recording(self) -> Self {
        let form = match self.form {
            Form::Conversation(conversation) => {
                Form::Recorded { conversation, history: String::new(), resends: false }
            }
            form => form,
        };
        Self { form, ..self }
    }

    /// The client sends all recorded items with each turn.
    pub(crate) fn resending(mut self) -> Self {
        if let Form::Recorded { resends, .. } = &mut self.form {
            *resends = true;
        }
        self
    }

    /// The same dialogue with another number.
    pub(crate) fn numbered(self, number: u64) -> Self {
        Self { number, ..self }
    }

    pub(crate) fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }

    pub(crate) fn with_tool(self) -> Self {
        Self { uses_tool: true, ..self }
    }

    /// The number of complete turns.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Sends the next turn and takes the answer.
    pub(crate) async fn turn(&mut self, client: &Client) -> anyhow::Result<Reply> {
        let reply = client.respond(self.request()).await?;
        self.accept(&reply);
        Ok(reply)
    }

    /// Sends the next turn. The caller reads the answer, and may take it with [`Self::accept`].
    pub(crate) async fn open_turn(&self, client: &Client) -> anyhow::Result<OpenReply> {
        client.open(self.request()).await
    }

    /// Continues after this answer.
    pub(crate) fn accept(&mut self, reply: &Reply) {
        let item = self.new_item();
        if let Form::Recorded { history, .. } = &mut self.form {
            history.extend([&item, ",", &reply.output, ","]);
        }
        self.turns += 1;
        self.last = Last {
            answer: reply.answer,
            response_id: Some(reply.response_id.clone()),
            call_id: reply.call_id.clone(),
        };
    }

    /// The body of the next turn's request.
    pub(crate) fn request(&self) -> String {
        let item = self.new_item();
        let (position, history) = match &self.form {
            Form::Chain => {
                (self.last.response_id.as_ref().map(|id| ("previous_response_id", id)), "")
            }
            Form::Conversation(id) => (Some(("conversation", id)), ""),
            Form::Recorded { conversation, history, resends } => {
                let history = if *resends { history } else { "" };
                (Some(("conversation", conversation)), history)
            }
        };
        let position = position.map_or(String::new(), |(key, id)| format!(r#""{key}":"{id}","#));
        let tools = if self.uses_tool { format!(r#""tools":[{TOOL}],"#) } else { String::new() };
        format!(
            r#"{{"model":"bench-model",{position}{tools}"stream":{},"input":[{history}{item}]}}"#,
            self.streams
        )
    }

    /// The new item of the next turn: the output of the last call, or a message.
    fn new_item(&self) -> String {
        let after = self.last.answer;
        let mark = Marker::User { conversation: self.number, turn: self.turns + 1, after };
        let text = format!("{mark} {TEXT}");
        let item = match &self.last.call_id {
            Some(id) => json!({"type": "function_call_output", "call_id": id, "output": text}),
            None => json!({"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": text}]}),
        };
        item.to_string()
    }
}

async fn create_conversation(client: &Client) -> anyhow::Result<String> {
    let conversation = client.post("/v1/conversations", "{}".to_owned()).await?;
    let id = conversation["id"].as_str();
    Ok(id.ok_or_else(|| anyhow::anyhow!("the conversation has no id"))?.to_owned())
}
