//! A store that fails: what its caller is told, and whether the model is asked for nothing.

use std::fmt::Write as _;
use std::time::Duration;

use antiphon_gateway::settings::Settings;

use super::outcome::{Observed, SAID, assert_consistent};
use crate::support::{Client, Faulty, FragileGateway, MODES, Mode, ask, assert_section, lines};

/// One way in which a store fails.
#[derive(Clone, Copy)]
struct Fault {
    /// What the store does, in words.
    name: &'static str,
    start: fn(&Faulty),
    /// How long a commit is repeated, and a write trusted.
    settings: fn(&mut Settings),
}

const HOUR: Duration = Duration::from_hours(1);

/// A gateway that gives up at once, and trusts no write.
fn give_up_at_once(settings: &mut Settings) {
    settings.store.trusted_for = Duration::ZERO;
    settings.store.commit_wait = Duration::ZERO;
}

/// A gateway that trusts the last write, whenever that was.
fn trust_last_write(settings: &mut Settings) {
    settings.store.trusted_for = HOUR;
    settings.store.commit_wait = Duration::ZERO;
}

/// A gateway that repeats a commit until it succeeds.
fn retry_commits(settings: &mut Settings) {
    settings.store.trusted_for = HOUR;
    settings.store.commit_wait = HOUR;
}

fn catalogue() -> [Fault; 6] {
    [
        Fault { name: "cannot be read", start: Faulty::stop_reading, settings: give_up_at_once },
        Fault { name: "takes no writes", start: Faulty::stop_writing, settings: give_up_at_once },
        Fault {
            name: "stops taking writes when the turn begins",
            start: Faulty::stop_writing,
            settings: trust_last_write,
        },
        Fault {
            name: "fails at the commit, and works again in time",
            start: |store| store.fail_commits(3),
            settings: retry_commits,
        },
        Fault {
            name: "commits, and its answer is lost",
            start: Faulty::lose_next_commit_result,
            settings: retry_commits,
        },
        Fault {
            name: "fails at the commit for too long",
            start: |store| store.fail_commits(usize::MAX),
            settings: give_up_at_once,
        },
    ]
}

#[tokio::test]
async fn store_fault_stores_a_turn_at_most_once() {
    let mut text = String::from(HEAD);
    for fault in catalogue() {
        text.push_str(&row(fault).await);
    }
    assert_section("store", &text);
}

const HEAD: &str = "\
| the store | streamed answer | other answer | message | the model is asked | the conversation \
holds |
|---|---|---|---|---|---|
";

/// What a turn that meets a fault came to.
struct Outcome {
    received: Observed,
    asked: usize,
    holds: &'static str,
}

async fn row(fault: Fault) -> String {
    let [streamed, whole] =
        [run_faulty_turn(fault, Mode::Streamed).await, run_faulty_turn(fault, Mode::Whole).await];
    let either = |one: String, two: String| {
        if one == two { one } else { format!("{one} streaming, else {two}") }
    };
    let asked = |met: &Outcome| if met.asked == 0 { "not" } else { "once" }.to_owned();
    let mut messages: Vec<String> =
        [&streamed, &whole].into_iter().filter_map(|met| met.received.message.clone()).collect();
    messages.dedup();
    let mut text = String::new();
    writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} |",
        fault.name,
        streamed.received.end,
        whole.received.end,
        messages.join(" / "),
        either(asked(&streamed), asked(&whole)),
        either(streamed.holds.to_owned(), whole.holds.to_owned()),
    )
    .expect("writing to a string does not fail");
    text
}

/// A turn that meets the fault, and one after it that finds a conversation that works.
async fn run_faulty_turn(fault: Fault, mode: Mode) -> Outcome {
    let FragileGateway { upstream, store, client } = FragileGateway::with(fault.settings).await;
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let (held, before) = (client.items(&conversation).await, upstream.requests().len());

    (fault.start)(&store);
    let received = client.attempt(mode, &ask(SAID).within(&conversation)).await;
    store.recover();

    let received = Observed::from_attempt(mode, &received);
    let asked = upstream.requests().len() - before;
    let holds = assert_consistent(&received, &held, &client.items(&conversation).await);
    assert_next_turn_works(&client, &conversation).await;
    assert_eq!(upstream.refusals(), []);
    Outcome { received, asked, holds }
}

async fn assert_next_turn_works(client: &Client, conversation: &str) {
    let next = client.respond(&ask("What is my color?").within(conversation)).await;
    assert_eq!(next.text(), "purple");
    let held = lines(&client.items(conversation).await);
    assert_eq!(held.last().map(String::as_str), Some("assistant: purple"));
}

#[tokio::test]
async fn unwritable_store_prevents_new_turns() {
    let FragileGateway { upstream, store, client } = FragileGateway::with(give_up_at_once).await;
    store.stop_writing();

    for mode in MODES {
        let refused = client.create(mode, &ask("My color is purple")).await;
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.refused().body["error"]["code"], "store_unavailable");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    let unstored = client.respond(&ask("My color is purple").unstored()).await;

    assert_eq!(unstored.text(), "Noted.");
    assert_eq!(upstream.requests().len(), 1, "only the turn that stores nothing");
    store.recover();
    for mode in MODES {
        assert_eq!(client.turn(mode, &ask("My color is purple")).await.text(), "Noted.");
    }
}

#[tokio::test]
async fn unstored_turn_of_a_conversation_is_committed_once() {
    let FragileGateway { store, client, upstream: _upstream } =
        FragileGateway::with(retry_commits).await;
    for mode in MODES {
        let conversation = client.new_conversation().await;
        store.lose_next_commit_result();
        client.turn(mode, &ask("My color is purple").within(&conversation).unstored()).await;
        let held = lines(&client.items(&conversation).await);
        assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
    }
}
