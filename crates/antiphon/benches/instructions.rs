//! Counts instructions, which do not depend on the load of the machine. Needs valgrind.
#![allow(missing_docs, reason = "the macros make items that nobody can document")]

mod given;

use std::hint::black_box;

use antiphon::dialect::{Dialect, Encoded};
use antiphon::item::{self, ListError};
use antiphon::reconcile::Verdict;
use antiphon::repair::Repaired;
use antiphon::{HeldItem, Item, Transcript};
use bytes::Bytes;
use given::{
    AiSdk, Anthropic, Chat, KEY, Numbers, Responses, Said, TextStream, Turn, Upstream, agent_run,
    broken, list_of, sealed_run,
};
use gungraun::prelude::*;

fn list(count: usize) -> Bytes {
    list_of(&agent_run(count))
}

fn held(count: usize) -> Vec<HeldItem> {
    Turn::full_replay(count).held
}

fn broken_run(count: usize) -> Vec<Item> {
    broken(&agent_run(count))
}

fn right(deltas: usize) -> TextStream {
    TextStream::with_deltas(deltas, Numbers::Right)
}

fn wrong(deltas: usize) -> TextStream {
    TextStream::with_deltas(deltas, Numbers::Wrong)
}

fn text<U: Upstream>(deltas: usize) -> (Dialect, TextStream) {
    (U::DIALECT, TextStream::from::<U>(Said::Text, deltas))
}

fn arguments<U: Upstream>(deltas: usize) -> (Dialect, TextStream) {
    (U::DIALECT, TextStream::from::<U>(Said::Arguments, deltas))
}

fn sealed<U: Upstream>(count: usize) -> (Dialect, Vec<Item>) {
    (U::DIALECT, sealed_run(U::DIALECT, count))
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = list)]
fn parse_items(list: Bytes) -> (Result<Vec<Item>, ListError>, Bytes) {
    (item::parse_items(black_box(&list)), list)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = held)]
fn transcript(held: Vec<HeldItem>) -> Transcript {
    black_box(held).into_iter().collect()
}

fn verdicts(turn: Turn) -> (Vec<Verdict>, Turn) {
    let verdicts = antiphon::reconcile::reconcile(&turn.transcript, &turn.incoming, KEY);
    (verdicts, turn)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = Turn::full_replay)]
fn full_replay(turn: Turn) -> (Vec<Verdict>, Turn) {
    verdicts(black_box(turn))
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = Turn::rewritten_replay)]
fn rewritten_replay(turn: Turn) -> (Vec<Verdict>, Turn) {
    verdicts(black_box(turn))
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = Turn::delta)]
fn delta(turn: Turn) -> (Vec<Verdict>, Turn) {
    verdicts(black_box(turn))
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = Turn::stateless)]
fn stateless(turn: Turn) -> (Vec<Verdict>, Turn) {
    verdicts(black_box(turn))
}

fn repaired(items: Vec<Item>) -> (Repaired, Vec<Item>) {
    (antiphon::repair::repair(&items), items)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = agent_run)]
fn well_formed(items: Vec<Item>) -> (Repaired, Vec<Item>) {
    repaired(black_box(items))
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = broken_run)]
fn broken_everywhere(items: Vec<Item>) -> (Repaired, Vec<Item>) {
    repaired(black_box(items))
}

fn kept_replay(count: usize) -> Turn {
    Turn::full_replay(count).owned_by_upstream()
}

fn kept_delta(count: usize) -> Turn {
    Turn::delta(count).owned_by_upstream()
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = kept_replay)]
fn replayed(turn: Turn) -> (Vec<Item>, Turn) {
    (black_box(&turn).sent(), turn)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = kept_delta)]
fn continued(turn: Turn) -> (Vec<Item>, Turn) {
    (black_box(&turn).sent(), turn)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = right)]
fn decode(stream: TextStream) -> (usize, TextStream) {
    (black_box(&stream).decode(), stream)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = right)]
fn relay_as_it_came(stream: TextStream) -> (usize, TextStream) {
    (given::relay(black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = right)]
fn correct_as_it_came(stream: TextStream) -> (usize, TextStream) {
    (given::correct(black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::n(args = [1_000, 10_000], setup = wrong)]
fn relay_renumbered(stream: TextStream) -> (usize, TextStream) {
    (given::relay(black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::Responses(args = [1_000, 10_000], setup = text::<Responses>)]
#[benches::Chat(args = [1_000, 10_000], setup = text::<Chat>)]
#[benches::Anthropic(args = [1_000, 10_000], setup = text::<Anthropic>)]
#[benches::AiSdk(args = [1_000, 10_000], setup = text::<AiSdk>)]
fn text_to_responses((from, stream): (Dialect, TextStream)) -> (usize, TextStream) {
    (given::convert(from, Dialect::Responses, black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::Responses(args = [1_000, 10_000], setup = text::<Responses>)]
#[benches::Chat(args = [1_000, 10_000], setup = text::<Chat>)]
#[benches::Anthropic(args = [1_000, 10_000], setup = text::<Anthropic>)]
#[benches::AiSdk(args = [1_000, 10_000], setup = text::<AiSdk>)]
fn text_to_anthropic((from, stream): (Dialect, TextStream)) -> (usize, TextStream) {
    (given::convert(from, Dialect::Anthropic, black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::Responses(args = [1_000, 10_000], setup = arguments::<Responses>)]
#[benches::Chat(args = [1_000, 10_000], setup = arguments::<Chat>)]
#[benches::Anthropic(args = [1_000, 10_000], setup = arguments::<Anthropic>)]
#[benches::AiSdk(args = [1_000, 10_000], setup = arguments::<AiSdk>)]
fn arguments_to_responses((from, stream): (Dialect, TextStream)) -> (usize, TextStream) {
    (given::convert(from, Dialect::Responses, black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::Responses(args = [1_000, 10_000], setup = arguments::<Responses>)]
#[benches::Chat(args = [1_000, 10_000], setup = arguments::<Chat>)]
#[benches::Anthropic(args = [1_000, 10_000], setup = arguments::<Anthropic>)]
#[benches::AiSdk(args = [1_000, 10_000], setup = arguments::<AiSdk>)]
fn arguments_to_anthropic((from, stream): (Dialect, TextStream)) -> (usize, TextStream) {
    (given::convert(from, Dialect::Anthropic, black_box(&stream)), stream)
}

#[library_benchmark]
#[benches::Chat(args = [1_000, 10_000], setup = sealed::<Chat>)]
#[benches::Anthropic(args = [1_000, 10_000], setup = sealed::<Anthropic>)]
fn encode((dialect, items): (Dialect, Vec<Item>)) -> (Encoded, Vec<Item>) {
    (given::encoded(dialect, black_box(&items)), items)
}

library_benchmark_group!(name = items, benchmarks = [parse_items, transcript]);
library_benchmark_group!(
    name = reconcile,
    benchmarks = [full_replay, rewritten_replay, delta, stateless]
);
library_benchmark_group!(name = repair, benchmarks = [well_formed, broken_everywhere]);
library_benchmark_group!(name = owned_by_upstream, benchmarks = [replayed, continued]);
library_benchmark_group!(
    name = stream,
    benchmarks = [decode, relay_as_it_came, correct_as_it_came, relay_renumbered]
);
library_benchmark_group!(
    name = dialects,
    benchmarks = [
        text_to_responses,
        text_to_anthropic,
        arguments_to_responses,
        arguments_to_anthropic,
        encode
    ]
);

main!(library_benchmark_groups = items, reconcile, repair, owned_by_upstream, stream, dialects);
