//! Every fault, with every API, however the caller asks and wherever the turn belongs.

use antiphon_gateway::settings::{ModelPattern, Retries, Settings};
use futures_util::{StreamExt, stream};

use super::catalogue::{Fault, catalogue};
use super::outcome::{Place, SAID, Told, holds, next_turn};
use super::table::{Cells, table};
use super::{APIS, Spoken, at_once};
use crate::support::{FOREIGN, MODES, Mode, World, assert_section};

/// The model behind an upstream that is asked again.
const RETRIED: &str = "retried-model";

/// How many worlds there are at once.
const AT_ONCE: usize = 4;

#[tokio::test]
async fn every_fault_leaves_a_working_conversation() {
    let cases = catalogue().into_iter().flat_map(|fault| APIS.map(|spoken| (fault, spoken)));
    let cells = stream::iter(cases).map(|(fault, spoken)| outcome(fault, spoken));
    let cells: Vec<Cells> = cells.buffered(AT_ONCE).collect().await;
    assert_section("upstreams", &table(&cells));
}

/// The three models are one server's: one misbehaves and is asked once, one misbehaves and is asked
/// again, one is as usual.
async fn world(fault: Fault, (api, _): Spoken) -> World {
    World::with(|settings: &mut Settings| {
        settings.upstreams[0].api = api;
        let mut once = settings.upstreams[0].clone();
        once.models = vec![ModelPattern::new(FOREIGN)];
        (fault.settings)(&mut once);
        let mut again = once.clone();
        (once.retries, again.retries) = (Retries::none(), at_once(1));
        again.models = vec![ModelPattern::new(RETRIED)];
        settings.upstreams.splice(0..0, [once, again]);
    })
    .await
}

async fn outcome(fault: Fault, spoken: Spoken) -> Cells {
    let world = world(fault, spoken).await;
    let mut cells = Cells::new(fault.name, spoken.0);
    for mode in MODES {
        let client = world.client();
        for place in [Place::conversation(&client).await, Place::chain(&client).await] {
            let (received, holds) = meet(&world, fault, spoken, mode, &place).await;
            cells.receive(mode, &received, holds);
            next_turn(&world, mode, &place, &received).await;
        }
    }
    cells.asked_again = is_healed(&world, fault, spoken).await;
    cells
}

/// A turn that meets the fault: what its caller is told, and what is held then.
async fn meet(
    world: &World,
    fault: Fault,
    (_, api): Spoken,
    mode: Mode,
    place: &Place,
) -> (Told, Option<&'static str>) {
    let client = world.client();
    let held = place.items(&client).await;
    world.script((fault.reply)(api));
    let received = client.attempt(mode, &place.say(SAID).model(FOREIGN)).await;
    let received = Told::of(mode, &received);
    let now = place.items(&client).await;
    let holds = held.zip(now).map(|(held, now)| holds(&received, &held, &now));
    (received, holds)
}

/// Whether a caller does not notice a fault that passes: `None` where it is no failure at all.
async fn is_healed(world: &World, fault: Fault, (_, api): Spoken) -> Option<bool> {
    let client = world.client();
    let place = Place::conversation(&client).await;
    let asked = world.times_asked();
    world.script((fault.reply)(api));
    let received = client.attempt(Mode::Streamed, &place.say(SAID).model(RETRIED)).await;
    let is_answered = received.is_ok_and(|turn| turn.status() == "completed");
    let times = world.times_asked() - asked;
    assert!(is_answered || times == 1, "a second request is answered: {}", fault.name);
    (times == 2 || !is_answered).then_some(is_answered)
}
