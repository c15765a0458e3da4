//! Stops and starts under load.

use antiphon_mock::{Answer, Reply};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::support::{Client, MODEL, MODES, World, ask, frames_until, ids, lines, soon};

/// How many messages each caller has to say.
const MESSAGES: usize = 12;
/// How many callers have a conversation of their own, and how many share one.
const OWN_CALLERS: usize = 3;
const SHARED_CALLERS: usize = 3;
/// Behind so many answers the gateway is stopped: before anybody who speaks alone can be done.
const STOPS: [usize; 3] = [6, 15, 24];

/// What callers and the one who stops the gateway tell each other.
#[derive(Clone)]
struct Load {
    /// A caller of the gateway that runs.
    gateway: watch::Sender<(usize, Client)>,
    answered: watch::Sender<usize>,
    refused: watch::Sender<usize>,
}

/// What became of one request.
enum Outcome {
    Answered,
    /// The gateway said that it stops.
    Rejected,
    /// Nobody took the request.
    Unreachable,
}

impl Load {
    fn new(world: &World) -> Self {
        Self {
            gateway: watch::Sender::new((0, world.client_of(0))),
            answered: watch::Sender::new(0),
            refused: watch::Sender::new(0),
        }
    }

    /// Says all messages of a caller, each until it is answered.
    async fn send_all(self, name: String, conversation: String) {
        for number in 0..MESSAGES {
            self.send_until_answered(&format!("{name} {number}"), number, &conversation).await;
        }
    }

    async fn send_until_answered(&self, message: &str, number: usize, conversation: &str) {
        loop {
            let (run, client) = self.gateway.borrow().clone();
            match ask_once(&client, message, number, conversation).await {
                Outcome::Answered => return self.answered.send_modify(|count| *count += 1),
                Outcome::Rejected => self.refused.send_modify(|count| *count += 1),
                Outcome::Unreachable => {}
            }
            let mut gateway = self.gateway.subscribe();
            let next = gateway.wait_for(|(latest, _)| *latest > run);
            drop(soon("the gateway starts again", next).await);
        }
    }
}

/// Asks once. Every refusal says when to try again, and every answer that begins is whole.
async fn ask_once(client: &Client, message: &str, number: usize, conversation: &str) -> Outcome {
    let asking = ask(message).within(conversation);
    let answer = client.try_create(MODES[number % 2], &asking).await;
    match answer {
        None => Outcome::Unreachable,
        Some(answer) if answer.status() == 200 => {
            let text = String::from_utf8_lossy(answer.body());
            assert!(text.contains("\"status\":\"completed\""), "{text}");
            Outcome::Answered
        }
        Some(answer) => {
            assert_eq!(answer.status(), 503, "{:?}", answer.body());
            assert_eq!(answer.header("retry-after"), Some("1"));
            Outcome::Rejected
        }
    }
}

/// Stops the gateway in the middle of some caller's turn, lets others be refused, and starts
/// another on its store.
async fn restart(world: &mut World, load: &Load) {
    let answer = Answer::new(MODEL).message("Noted.");
    let begun = frames_until(&answer, "response.output_text.delta");
    let held = world.script(Reply::sse(answer.frames()).hang_after(begun));
    soon("a turn is open", held.wait_for_sent(begun)).await;
    let refused_before = *load.refused.borrow();

    let stopping = world.stop();
    let mut refused = load.refused.subscribe();
    let more = refused.wait_for(|count| *count > refused_before);
    drop(soon("a turn is refused", more).await);
    held.release_all();
    stopping.ended().await;

    world.start().await;
    let client = world.client_of(0);
    load.gateway.send_modify(|(run, latest)| (*run, *latest) = (*run + 1, client));
}

#[tokio::test]
async fn acknowledged_turns_are_stored_exactly_once() {
    let mut world = World::parallel().await;
    let load = Load::new(&world);
    let mut callers = JoinSet::new();
    let mut conversations = Vec::new();
    for number in 0..OWN_CALLERS {
        let conversation = world.client().new_conversation().await;
        callers.spawn(load.clone().send_all(format!("alone-{number}"), conversation.clone()));
        conversations.push((conversation, 1));
    }
    let shared = world.client().new_conversation().await;
    for number in 0..SHARED_CALLERS {
        callers.spawn(load.clone().send_all(format!("together-{number}"), shared.clone()));
    }
    conversations.push((shared, SHARED_CALLERS));

    for count in STOPS {
        let mut answered = load.answered.subscribe();
        drop(soon("turns are answered", answered.wait_for(|answered| *answered >= count)).await);
        restart(&mut world, &load).await;
    }

    while let Some(caller) = callers.join_next().await {
        caller.unwrap();
    }
    for (conversation, callers) in conversations {
        assert_whole(&world.client(), &conversation, callers).await;
    }
    assert_eq!(world.upstream.refusals(), []);
}

/// Every message of so many callers is there once, with its answer behind it, and in the order in
/// which its caller said it.
async fn assert_whole(client: &Client, conversation: &str, callers: usize) {
    let items = client.items(conversation).await;
    let held = lines(&items);
    assert_eq!(held.len(), 2 * callers * MESSAGES, "{held:#?}");
    assert!(held.iter().skip(1).step_by(2).all(|line| line == "assistant: Noted."), "{held:#?}");
    let mut reply: Vec<(&str, usize)> =
        held.iter().step_by(2).map(|line| caller_of(line)).collect();
    reply.sort_by_key(|(caller, _)| *caller);
    for reply in reply.chunks(MESSAGES) {
        assert!(reply.iter().all(|(caller, _)| *caller == reply[0].0), "{reply:?}");
        assert!(reply.iter().map(|(_, number)| *number).eq(0..MESSAGES), "{reply:?}");
    }
    let mut unique = ids(&items);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), items.len());
}

/// Who said a line, and as which message.
fn caller_of(line: &str) -> (&str, usize) {
    let (caller, number) = line.rsplit_once(' ').expect("a message has a number");
    (caller, number.parse().expect("it is a number"))
}
