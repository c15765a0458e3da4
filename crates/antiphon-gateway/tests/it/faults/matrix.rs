//! Every fault, with every API, however the caller asks and wherever the turn belongs.

use antiphon_gateway::settings::{ModelPattern, Retries, Settings};
use futures_util::{StreamExt, stream};

use super::catalogue::{Fault, catalogue};
use super::outcome::{Observed, Place, SAID, assert_consistent, assert_next_turn_works};
use super::table::{Cells, table};
use super::{APIS, Dialect, immediate_retries};
use crate::support::{MODES, Mode, OTHER_MODEL, World, assert_section};

/// The model behind an upstream that is asked again.
const RETRIED: &str = "retried-model";

/// How many worlds there are at once.
const AT_ONCE: usize = 4;

#[tokio::test]
async fn every_fault_leaves_a_working_conversation() {
    let cases = catalogue().into_iter().flat_map(|fault| APIS.map(|dialect| (fault, dialect)));
    let cells = stream::iter(cases).map(|(fault, dialect)| outcome(fault, dialect));
    let cells: Vec<Cells> = cells.buffered(AT_ONCE).collect().await;
    assert_section("upstreams", &table(&cells));
}

/// The three models are one server's: one misbehaves and is asked once, one misbehaves and is asked
/// again, one is as usual.
async fn world(fault: Fault, (api, _): Dialect) -> World {
    World::with(|settings: &mut Settings| {
        settings.upstreams[0].api = api;
        let mut once = settings.upstreams[0].clone();
        once.models = vec![ModelPattern::new(OTHER_MODEL)];
        (fault.settings)(&mut once);
        let mut again = once.clone();
        (once.retries, again.retries) = (Retries::none(), immediate_retries(1));
        again.models = vec![ModelPattern::new(RETRIED)];
        settings.upstreams.splice(0..0, [once, again]);
    })
    .await
}

async fn outcome(fault: Fault, dialect: Dialect) -> Cells {
    let world = world(fault, dialect).await;
    let mut cells = Cells::new(fault.name, dialect.0);
    for mode in MODES {
        let client = world.client();
        for place in [Place::conversation(&client).await, Place::chain(&client).await] {
            let (received, holds) = run_faulty_turn(&world, fault, dialect, mode, &place).await;
            cells.receive(mode, &received, holds);
            assert_next_turn_works(&world, mode, &place, &received).await;
        }
    }
    cells.asked_again = is_hidden_by_retry(&world, fault, dialect).await;
    cells
}

/// A turn that meets the fault: what its caller is told, and what is held then.
async fn run_faulty_turn(
    world: &World,
    fault: Fault,
    (_, api): Dialect,
    mode: Mode,
    place: &Place,
) -> (Observed, Option<&'static str>) {
    let client = world.client();
    let held = place.items(&client).await;
    world.script((fault.reply)(api));
    let received = client.attempt(mode, &place.ask(SAID).model(OTHER_MODEL)).await;
    let received = Observed::from_attempt(mode, &received);
    let now = place.items(&client).await;
    let holds = held.zip(now).map(|(held, now)| assert_consistent(&received, &held, &now));
    (received, holds)
}

/// Whether a caller does not notice a fault that passes: `None` where it is no failure at all.
async fn is_hidden_by_retry(world: &World, fault: Fault, (_, api): Dialect) -> Option<bool> {
    let client = world.client();
    let place = Place::conversation(&client).await;
    let asked = world.times_asked();
    world.script((fault.reply)(api));
    let received = client.attempt(Mode::Streamed, &place.ask(SAID).model(RETRIED)).await;
    let is_answered = received.is_ok_and(|turn| turn.status() == "completed");
    let times = world.times_asked() - asked;
    assert!(is_answered || times == 1, "a second request is answered: {}", fault.name);
    (times == 2 || !is_answered).then_some(is_answered)
}
