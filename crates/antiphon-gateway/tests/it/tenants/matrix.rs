//! Every route with every kind of foreign id answers exactly as for one that was never given.
//!
//! Time is compared by what it is spent on: the store is asked the same questions, in the same
//! order, and each names the caller's own tenant.

use antiphon_store::Tenant;

use super::attempts::{Attempt, attempts};
use super::belongings::{Ids, deleted, held, open};
use super::observed::Observed;
use super::watched::{UMBRELLA, Watched};
use crate::support::Client;

/// Every attempt of `caller` with `ids` looks as one with ids that were never given.
async fn assert_unknown(
    world: &Watched,
    caller: &Client,
    own: &Ids,
    ids: &Ids,
    spellings: &[Spelling],
) {
    let never = ids.unused();
    for spelt in spellings {
        let spellings = [ids, &never].map(|ids| [ids.each(spelt), ids.clone()]);
        let [foreign, unknown] = spellings.each_ref().map(|[spelt, _]| attempts(spelt, own));
        for (foreign, unknown) in foreign.into_iter().zip(unknown) {
            let expected = Observed::observe(world, caller, &unknown, &spellings[1]).await;
            let seen = Observed::observe(world, caller, &foreign, &spellings[0]).await;
            let what = format!("{} {}: {:?}", foreign.method, foreign.path, foreign.body);
            assert_eq!(seen, expected, "{what}");
            assert_discreet(&seen, &what);
        }
    }
}

/// It was refused, and nobody else's data was asked for.
fn assert_discreet(seen: &Observed, what: &str) {
    assert!(seen.status.is_client_error(), "{what}: {seen:?}");
    let stranger = Tenant::new(UMBRELLA.1);
    assert!(seen.calls.iter().all(|call| call.tenant == stranger), "{what}: {:?}", seen.calls);
}

/// How an id is spelt.
type Spelling = fn(&str) -> String;

/// As it was given.
const EXACT: [Spelling; 1] = [str::to_owned];
/// Otherwise.
const MISSPELT: [Spelling; 8] = [
    |id| id.to_uppercase(),
    |id| id[..id.len() - 1].to_owned(),
    |id| format!("{id}0"),
    |id| format!("{id}%00"),
    |id| format!("{id}%FF"),
    |id| format!("%20{id}"),
    |id| format!("{id}%2Fitems"),
    |id| id.replace('_', "-"),
];

/// All that a tenant can see of what it has.
async fn everything(client: &Client, ids: &Ids) -> Vec<String> {
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    let response = format!("/v1/responses/{}", ids.response);
    let query = "limit=100&include=reasoning.encrypted_content";
    let mut seen = Vec::new();
    for path in [
        format!("{conversation}/items?{query}"),
        format!("{response}/input_items?{query}"),
        format!("{response}/report"),
        format!("{response}/context"),
        conversation,
        response,
    ] {
        seen.push(client.get(&path).await.json().to_string());
    }
    seen
}

#[tokio::test]
async fn stored_objects_are_hidden_from_other_tenants() {
    let world = Watched::new().await;
    let (owner, stranger) = (world.owner(), world.stranger());
    let (ids, own) = (held(&world, &owner).await, held(&world, &stranger).await);
    let before = [everything(&owner, &ids).await, everything(&stranger, &own).await];
    let asked = world.upstream.requests().len();

    assert_unknown(&world, &stranger, &own, &ids, &EXACT).await;
    assert_unknown(&world, &stranger, &own, &ids, &MISSPELT).await;

    let after = [everything(&owner, &ids).await, everything(&stranger, &own).await];
    assert_eq!(after, before);
    assert_eq!(world.upstream.requests().len(), asked);
}

#[tokio::test]
async fn deleted_objects_are_hidden_from_other_tenants() {
    let world = Watched::new().await;
    let (owner, stranger) = (world.owner(), world.stranger());
    let (ids, own) = (deleted(&world, &owner).await, held(&world, &stranger).await);

    assert_unknown(&world, &stranger, &own, &ids, &EXACT).await;
}

#[tokio::test]
async fn open_turn_is_hidden_from_other_tenants() {
    let world = Watched::new().await;
    let (owner, stranger) = (world.owner(), world.stranger());
    let own = held(&world, &stranger).await;
    let (ids, exchange, mut events) = open(&world, &owner).await;

    assert_unknown(&world, &stranger, &own, &ids, &EXACT).await;

    exchange.release_all();
    let end = events.until("response.completed").await;
    assert_eq!(owner.stored_response(&ids.response).await, end.json["response"]);
    assert_eq!(owner.items(&ids.conversation).await.len(), 3);
}

/// The routes whose variable part is no id of stored data: paths of upstreams, and names of faults.
const WITHOUT_IDS: [&str; 2] = ["/{*path}", "/faults/{name}"];

/// The patterns of the routes that take an id.
fn patterns() -> Vec<&'static str> {
    let source = include_str!("../../../src/routes/mod.rs");
    let literals = source.split('"').skip(1).step_by(2);
    let patterns = literals.filter(|text| text.starts_with('/') && text.contains('{'));
    patterns.filter(|pattern| !WITHOUT_IDS.contains(pattern)).collect()
}

fn is_of(pattern: &str, attempt: &Attempt) -> bool {
    let path = attempt.path.split('?').next().unwrap_or_default();
    // All patterns but those of the Gemini API follow `/v1`.
    let path = path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let (wanted, given): (Vec<_>, Vec<_>) =
        (pattern.split('/').collect(), path.split('/').collect());
    let fits = |(wanted, given): (&&str, &&str)| wanted.starts_with('{') || wanted == given;
    wanted.len() == given.len() && wanted.iter().zip(&given).all(fits)
}

#[test]
fn every_route_with_an_id_is_tested() {
    let [conversation, response, item, call] =
        ["conv_1", "resp_1", "msg_1", "call_1"].map(str::to_owned);
    let ids = Ids { conversation, response, item, call };
    let attempts = attempts(&ids, &ids);
    assert!(patterns().len() > 7, "{:?}", patterns());
    for pattern in patterns() {
        for method in [http::Method::GET, http::Method::POST, http::Method::DELETE] {
            let mut of = attempts.iter().filter(|attempt| is_of(pattern, attempt));
            assert!(of.any(|attempt| attempt.method == method), "{method} {pattern}");
        }
    }
}
