//! A caller may leave at any event of the upstream's, and at any byte of what it reads: what it was
//! told stays, and it can go on.

use antiphon_gateway::settings::OnDisconnect;
use antiphon_mock::{Api, Frame, Reply};
use serde_json::{Value, json};

use super::received::{ReceivedOutput, is_part};
use super::script::{APIS, Dialect, terminal_position, text_length};
use crate::support::{Ask, Client, Event, World, ask, lines, list, user};

const FACT: &str = "My color is purple.";
const ORDER: &str = "Say it twice.";
const QUESTION: &str = "What is my color?";

/// A conversation that holds a fact, and the order that the scripted answer is given to.
struct Dialogue {
    client: Client,
    conversation: String,
}

impl Dialogue {
    async fn new(world: &World) -> Self {
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.add_items(&conversation, &[user(FACT)]).await;
        Self { client, conversation }
    }

    fn order(&self) -> Ask {
        thinking(ask(ORDER)).within(&self.conversation)
    }
}

/// Asks for reasoning too: a Claude thinks only where it is asked to.
fn thinking(ask: Ask) -> Ask {
    ask.field("reasoning", json!({"effort": "low"}))
}

/// A turn that was left.
struct AbandonedTurn {
    id: String,
    received: ReceivedOutput,
    /// What is kept of its output, in words.
    kept: Vec<String>,
}

impl AbandonedTurn {
    /// Waits until the turn is settled, and looks at what is kept: what was told at the least, what
    /// the upstream has said at the most, and nothing that a provider would refuse.
    async fn settled(dialogue: &Dialogue, id: String, events: &[Event], most: &[String]) -> Self {
        let response = dialogue.client.wait_until_settled(&id).await;
        assert_eq!((&response["status"], &response["id"]), (&json!("cancelled"), &json!(id)));
        let output = list(&response["output"]);
        let (received, kept) = (ReceivedOutput::from_events(events), lines(output));
        let least = received.expected_stored();
        assert!(is_part(&least, &kept), "told {least:?}, kept {kept:?}");
        assert!(is_part(&kept, most), "kept {kept:?} of {most:?}");
        assert_ne!(kept.last().map(String::as_str), Some("reasoning"), "{kept:?}");
        for item in output.iter().filter(|item| item["type"] == "function_call") {
            assert_eq!(item["status"], "completed", "{item}");
        }
        let items = dialogue.client.items(&dialogue.conversation).await;
        assert_eq!(items[2..], *output, "the conversation holds what the response does");
        assert_eq!(lines(&items[..2]), [format!("user: {FACT}"), format!("user: {ORDER}")]);
        Self { id, received, kept }
    }

    /// The ways in which a caller may go on: with a question alone, with outputs of the calls that
    /// it heard of before it, and with all that it knows.
    fn next_inputs(&self) -> [Vec<Value>; 3] {
        let asked = [user(FACT), user(ORDER)];
        let late = self.received.outputs();
        let replay = asked.into_iter().chain(self.received.replay()).chain(late.clone());
        let then_asks = |items: Vec<Value>| [items, vec![user(QUESTION)]].concat();
        [then_asks(Vec::new()), then_asks(late), then_asks(replay.collect())]
    }

    /// Goes on from the response in every way, and in the conversation in one of them.
    async fn assert_continues(&self, world: &World, dialogue: &Dialogue, way: usize) {
        let inputs = self.next_inputs();
        for input in &inputs {
            self.assert_answered(world, dialogue, ask(json!(input)).after(&self.id)).await;
        }
        let input = json!(inputs[way % inputs.len()]);
        self.assert_answered(world, dialogue, ask(input).within(&dialogue.conversation)).await;
        let held = dialogue.client.items(&dialogue.conversation).await;
        assert_eq!(
            lines(&held).iter().filter(|line| *line == &format!("user: {ORDER}")).count(),
            1
        );
    }

    /// The next turn is answered, and its model was given everything once.
    async fn assert_answered(&self, world: &World, dialogue: &Dialogue, asking: Ask) {
        let turn = dialogue.client.respond(&thinking(asking)).await;
        assert_eq!(turn.text(), "purple");
        let view = world.last_view().await;
        let (outputs, view): (Vec<String>, Vec<String>) =
            view.into_iter().partition(|line| line.starts_with("output: "));
        let is_call = |line: &&String| line.starts_with("call ");
        assert_eq!(outputs.len(), self.kept.iter().filter(is_call).count(), "{view:?}");
        match world.last_request().api() {
            Some(Api::Responses) => assert_eq!(view, self.expected_view()),
            _ => assert_holds(&view, &self.expected_view()),
        }
    }

    fn expected_view(&self) -> Vec<String> {
        let user = |text: &str| format!("user: {text}");
        let before = [user(FACT), user(ORDER)].into_iter().chain(self.kept.clone());
        before.chain([user(QUESTION)]).collect()
    }
}

/// Says that the view holds exactly what is expected, each once. Its order is the encoder's where
/// an API has one message for texts and calls, and so is whether texts are one.
fn assert_holds(view: &[String], expected: &[String]) {
    let texts = |lines: &[String]| -> Vec<String> {
        let lines = lines.iter().filter(|line| *line != "reasoning");
        lines.map(|line| line.replace("assistant: ", "").replace("user: ", "")).collect()
    };
    let spaceless = |text: &str| text.replace(' ', "");
    let mut rest = spaceless(&texts(view).concat());
    let mut pieces = texts(expected);
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    for piece in pieces.iter().map(|piece| spaceless(piece)) {
        assert!(rest.contains(&piece), "{piece} is in {view:?}");
        rest = rest.replacen(&piece, "", 1);
    }
    assert_eq!(rest, "", "{view:?} holds {expected:?} once");
}

/// What the upstream says with these frames, in words, and how many bytes the gateway tells it in,
/// up to the last words.
async fn whole_answer(world: &World, frames: &[Frame]) -> (Vec<String>, usize) {
    let dialogue = Dialogue::new(world).await;
    world.script(Reply::sse(frames.to_vec()));
    let events = dialogue.client.stream(&dialogue.order()).await.all().await;
    let last_words = events.iter().rposition(|event| event.json["delta"].is_string());
    let last_words = last_words.expect("something is said");
    let bytes_of =
        |event: &Event| "event: \ndata: \n\n".len() + event.name.len() + event.data.len();
    let length = events[..=last_words].iter().map(bytes_of).sum();
    (ReceivedOutput::from_events(&events).expected_stored(), length)
}

#[tokio::test]
async fn disconnect_after_every_upstream_event() {
    for dialect in APIS {
        let world = dialect.world(OnDisconnect::Settle).await;
        let frames = dialect.frames(0);
        let (whole, _) = whole_answer(&world, &frames).await;
        for count in 0..=terminal_position(&frames) {
            println!("{:?}: left behind {count} frames", dialect.api);
            let left = disconnect_after_frames(&world, dialect, count, &whole).await;
            left.0.assert_continues(&world, &left.1, count).await;
        }
    }
}

/// A turn that is left when all that the first `count` frames of the upstream say was read.
async fn disconnect_after_frames(
    world: &World,
    dialect: Dialect,
    count: usize,
    whole: &[String],
) -> (AbandonedTurn, Dialogue) {
    let dialogue = Dialogue::new(world).await;
    let frames = dialect.frames(count + 1);
    let exchange = world.script(Reply::sse(frames.clone()).hang_after(count));
    let mut events = dialogue.client.stream(&dialogue.order()).await;
    let id = events.header("antiphon-response");
    match dialect.api {
        Api::Responses => {
            for _ in 0..count {
                events.next().await;
            }
        }
        _ => {
            while ReceivedOutput::from_events(events.seen()).text_length()
                < text_length(&frames[..count])
            {
                events.next().await;
            }
        }
    }
    let seen = events.seen().to_vec();
    drop(events);
    world.wait_for_disconnect(&exchange).await;
    let left = AbandonedTurn::settled(&dialogue, id, &seen, whole).await;
    if matches!(dialect.api, Api::Responses) {
        assert_eq!(left.kept, left.received.expected_stored(), "exactly what was told");
    }
    (left, dialogue)
}

#[tokio::test]
async fn disconnect_at_any_byte() {
    const SAMPLES: usize = 32;
    for dialect in APIS {
        let world = dialect.world(OnDisconnect::Settle).await;
        let (whole, length) = whole_answer(&world, &dialect.frames(0)).await;
        for sample in 0..SAMPLES {
            let bytes = length * sample / SAMPLES;
            println!("{:?}: left behind {bytes} bytes", dialect.api);
            let frames = dialect.frames(sample + 1);
            let open = terminal_position(&frames);
            let dialogue = Dialogue::new(&world).await;
            let exchange = world.script(Reply::sse(frames).hang_after(open));
            let events = dialogue.client.stream(&dialogue.order()).await;
            let id = events.header("antiphon-response");
            let seen = events.first_bytes(bytes).await;
            world.wait_for_disconnect(&exchange).await;
            let left = AbandonedTurn::settled(&dialogue, id, &seen, &whole).await;
            left.assert_continues(&world, &dialogue, sample).await;
        }
    }
}

#[tokio::test]
async fn finished_turn_is_stored_after_any_disconnect() {
    for dialect in APIS {
        let world = dialect.world(OnDisconnect::Finish).await;
        let (whole, _) = whole_answer(&world, &dialect.frames(0)).await;
        let end = terminal_position(&dialect.frames(0));
        for count in 0..=end {
            println!("{:?}: left behind {count} frames", dialect.api);
            let dialogue = Dialogue::new(&world).await;
            let frames = dialect.frames(count + 1);
            let exchange = world.script(Reply::sse(frames).hang_after(count));
            let events = dialogue.client.stream(&dialogue.order()).await;
            let id = events.header("antiphon-response");
            drop(events);
            exchange.release_all();
            world.wait_until_read(&exchange).await;

            let response = dialogue.client.wait_until_settled(&id).await;

            assert_eq!(response["status"], "completed");
            assert_eq!(lines(list(&response["output"])), whole);
            if count == end {
                let left =
                    AbandonedTurn { id, received: ReceivedOutput::default(), kept: whole.clone() };
                left.assert_continues(&world, &dialogue, count).await;
            }
        }
    }
}
