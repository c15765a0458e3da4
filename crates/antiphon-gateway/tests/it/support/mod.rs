//! The world of the tests: gateways, a strict upstream behind them, callers in front of them.

mod answer;
mod ask;
mod book;
mod client;
mod database;
mod error;
mod events;
mod faulty;
mod faulty_ledgers;
mod faulty_log;
mod fragile;
mod gateway;
mod gateways;
mod items;
mod laws;
mod raw;
mod receiver;
mod replica;
mod roots;
#[path = "../../../../../tests/schema/mod.rs"]
mod schema;
mod scrape;
mod script;
mod sim;
mod socket;
mod test_store;
pub(crate) mod three_turns;
mod view;
mod watchdog;
mod world;

pub(crate) use answer::{Answer, Turn};
pub(crate) use ask::{Ask, MODEL, OTHER_MODEL, PLAIN, SIM, ask, echo_tool};
pub(crate) use book::assert_section;
pub(crate) use client::{Client, MODES, Mode};
pub(crate) use error::{Refused, invalid, not_found};
pub(crate) use events::{Event, Events};
pub(crate) use faulty::Faulty;
pub(crate) use fragile::FragileGateway;
pub(crate) use gateways::Gateways;
pub(crate) use items::{
    assistant, assistant_again, call, call_again, output, reference, shown, typed_user, user,
    without,
};
pub(crate) use raw::Raw;
pub(crate) use receiver::{Received, Receiver, SECRET as WEBHOOK_SECRET};
pub(crate) use roots::Roots;
pub(crate) use schema::assert_response_shape;
pub(crate) use scrape::{METRICS_KEY, Scrape, wait_for_metric};
pub(crate) use script::{frames_until, item_event, telling, terminal, within_item};
pub(crate) use sim::default_settings;
pub(crate) use socket::{Socket, create};
pub(crate) use test_store::StoreKind;
pub(crate) use view::{ids, lines, list, only, text};
pub(crate) use watchdog::soon;
pub(crate) use world::World;
