//! A server in memory whose whole state can be stored, and that refuses faulty inputs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use antiphon::stateful::Report;
use antiphon::stream::Event;
use antiphon::tracker::{Continuation, ConversationId};
use antiphon::{Item, ItemId, Role};
use antiphon_agents::model::{Answer, AnswerEvent, Backend, EventKind, ModelError, ModelRequest};
use async_trait::async_trait;
use futures_util::stream;

/// The items of conversations and of responses by their ids.
pub(crate) type Lists = BTreeMap<String, Vec<Item>>;

/// A server of conversations and of chains.
#[derive(Clone, Default)]
pub(crate) struct MemoryServer(Arc<Mutex<Content>>);

#[derive(Default)]
pub(crate) struct Content {
    pub(crate) conversations: Lists,
    /// The input and the output of each response, with those of the chain before it.
    pub(crate) responses: Lists,
    answers: VecDeque<antiphon_mock::Answer>,
    /// The inputs of the model.
    pub(crate) inputs: Vec<Vec<Item>>,
}

impl MemoryServer {
    /// A server with this content, whose model gives these answers.
    pub(crate) fn new(
        conversations: Lists,
        responses: Lists,
        answers: impl IntoIterator<Item = antiphon_mock::Answer>,
    ) -> Self {
        let answers = answers.into_iter().collect();
        Self(Arc::new(Mutex::new(Content { conversations, responses, answers, inputs: vec![] })))
    }

    pub(crate) fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap()
    }
}

impl Content {
    fn list(&self, continuation: &Continuation) -> Vec<Item> {
        let found = match continuation {
            Continuation::Conversation { id } => self.conversations.get(id.as_str()),
            Continuation::Chain { previous_response_id: None } => return Vec::new(),
            Continuation::Chain { previous_response_id: Some(id) } => {
                self.responses.get(id.as_str())
            }
        };
        found.unwrap_or_else(|| panic!("{continuation:?} does not exist")).clone()
    }

    fn conversation(&mut self, id: &ConversationId) -> &mut Vec<Item> {
        self.conversations.get_mut(id.as_str()).expect("the conversation exists")
    }

    fn respond(&mut self, request: ModelRequest) -> Vec<Result<AnswerEvent, ModelError>> {
        let continuation = request.continuation;
        let mut items = continuation.as_ref().map(|it| self.list(it)).unwrap_or_default();
        items.extend(request.items.iter().cloned());
        assert_eq!(antiphon::repair::check(&items), [], "{items:#?}");
        self.inputs.push(items.clone());
        let answer = self.answers.pop_front().expect("the script has an answer");
        let frames = answer.frames().into_iter().filter_map(|frame| frame.json());
        let event = |data: serde_json::Value| Event {
            kind: data["type"].as_str().unwrap().to_owned().into(),
            data: data.to_string().into(),
        };
        let events: Vec<_> = frames.map(event).map(AnswerEvent::new).collect();
        let Some(Ok(last)) = events.last() else { panic!("an answer has a last event") };
        let EventKind::Completed(answered) = last.kind() else { panic!("{last:?}") };
        items.extend(answered.output.iter().cloned());
        if let Some(Continuation::Conversation { id }) = continuation {
            *self.conversation(&id) = items;
        } else if let Some(id) = &answered.response_id {
            self.responses.insert(id.as_str().to_owned(), items);
        }
        events
    }
}

#[async_trait]
impl Backend for MemoryServer {
    async fn respond(&self, request: ModelRequest) -> Result<Answer, ModelError> {
        let events = self.content().respond(request);
        Ok(Answer::new(stream::iter(events), Report::default()))
    }

    async fn items(&self, continuation: &Continuation) -> Result<Vec<Item>, ModelError> {
        Ok(self.content().list(continuation))
    }

    async fn deliver(
        &self,
        conversation: &ConversationId,
        items: Vec<Item>,
    ) -> Result<(), ModelError> {
        self.content().conversation(conversation).extend(items);
        Ok(())
    }

    async fn delete_items(
        &self,
        conversation: &ConversationId,
        ids: Vec<ItemId>,
    ) -> Result<(), ModelError> {
        let is_left = |item: &Item| item.head().id.as_ref().is_none_or(|id| !ids.contains(id));
        self.content().conversation(conversation).retain(is_left);
        Ok(())
    }

    async fn create_conversation(&self, items: Vec<Item>) -> Result<ConversationId, ModelError> {
        let mut content = self.content();
        let id = format!("conv_{}", content.conversations.len());
        content.conversations.insert(id.clone(), items);
        Ok(id.into())
    }

    /// All messages of the user, then one compaction.
    async fn compact(&self, request: ModelRequest) -> Result<Vec<Item>, ModelError> {
        tokio::task::yield_now().await;
        let is_of_user = |item: &Item| item.head().role == Some(Role::User);
        let mut items = request.items.to_vec();
        items.retain(is_of_user);
        let compaction = r#"{"type":"compaction","id":"cmp_1","encrypted_content":"sealed"}"#;
        items.push(Item::parse(compaction.into()).unwrap());
        Ok(items)
    }
}
