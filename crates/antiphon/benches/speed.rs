//! Measures time.

mod given;

use divan::{Bencher, black_box};

/// Lengths of histories, in items.
const HISTORIES: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Lengths of responses, in deltas.
const ANSWERS: [usize; 2] = [1_000, 10_000];

fn main() {
    divan::main();
}

mod items {
    use antiphon::item;
    use divan::counter::{BytesCount, ItemsCount};

    use super::given::{Turn, agent_run, list_of};
    use super::{Bencher, HISTORIES, black_box};

    /// Reads the heads of a request's items.
    #[divan::bench(args = HISTORIES)]
    fn parse_items(bencher: Bencher<'_, '_>, count: usize) {
        let list = list_of(&agent_run(count));
        bencher
            .counter(BytesCount::new(list.len()))
            .counter(ItemsCount::new(count))
            .bench(|| item::parse_items(black_box(&list)));
    }

    /// Indexes stored items.
    #[divan::bench(args = HISTORIES)]
    fn transcript(bencher: Bencher<'_, '_>, count: usize) {
        let held = Turn::full_replay(count).held;
        bencher
            .counter(ItemsCount::new(count))
            .with_inputs(|| held.clone())
            .bench_values(|held| held.into_iter().collect::<antiphon::Transcript>());
    }
}

mod reconcile {
    use antiphon::reconcile::reconcile;
    use divan::counter::ItemsCount;

    use super::given::{KEY, Turn};
    use super::{Bencher, HISTORIES, black_box};

    fn bench(bencher: Bencher<'_, '_>, count: usize, turn: &Turn) {
        let Turn { transcript, incoming, .. } = turn;
        bencher
            .counter(ItemsCount::new(count))
            .bench(|| reconcile(black_box(transcript), black_box(incoming), KEY));
    }

    #[divan::bench(args = HISTORIES)]
    fn full_replay(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &Turn::full_replay(count));
    }

    #[divan::bench(args = HISTORIES)]
    fn rewritten_replay(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &Turn::rewritten_replay(count));
    }

    #[divan::bench(args = HISTORIES)]
    fn delta(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &Turn::delta(count));
    }

    #[divan::bench(args = HISTORIES)]
    fn stateless(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &Turn::stateless(count));
    }
}

mod repair {
    use antiphon::Item;
    use antiphon::repair;
    use divan::counter::ItemsCount;

    use super::given::{agent_run, broken};
    use super::{Bencher, HISTORIES, black_box};

    fn bench(bencher: Bencher<'_, '_>, count: usize, items: &[Item]) {
        bencher.counter(ItemsCount::new(count)).bench(|| repair::repair(black_box(items)));
    }

    #[divan::bench(args = HISTORIES)]
    fn well_formed(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &agent_run(count));
    }

    #[divan::bench(args = HISTORIES)]
    fn broken_everywhere(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, &broken(&agent_run(count)));
    }
}

/// For a provider that stores the conversation: reconciles, and repairs the items to send.
mod owned_by_upstream {
    use divan::counter::ItemsCount;

    use super::given::Turn;
    use super::{Bencher, HISTORIES, black_box};

    fn bench(bencher: Bencher<'_, '_>, count: usize, turn: Turn) {
        let turn = turn.owned_by_upstream();
        bencher.counter(ItemsCount::new(count)).bench(|| black_box(&turn).sent());
    }

    #[divan::bench(args = HISTORIES)]
    fn replayed(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, Turn::full_replay(count));
    }

    #[divan::bench(args = HISTORIES)]
    fn continued(bencher: Bencher<'_, '_>, count: usize) {
        bench(bencher, count, Turn::delta(count));
    }
}

mod stream {
    use divan::counter::{BytesCount, ItemsCount};

    use super::given::{Numbers, TextStream, correct, relay};
    use super::{ANSWERS, Bencher, black_box};

    fn length(stream: &TextStream) -> BytesCount {
        BytesCount::new(stream.chunks.iter().map(bytes::Bytes::len).sum::<usize>())
    }

    #[divan::bench(args = ANSWERS)]
    fn decode(bencher: Bencher<'_, '_>, deltas: usize) {
        let stream = TextStream::with_deltas(deltas, Numbers::Right);
        bencher
            .counter(length(&stream))
            .counter(ItemsCount::new(deltas))
            .bench(|| black_box(&stream).decode());
    }

    fn bench(bencher: Bencher<'_, '_>, deltas: usize, numbers: Numbers) {
        let stream = TextStream::with_deltas(deltas, numbers);
        bencher
            .counter(length(&stream))
            .counter(ItemsCount::new(deltas))
            .bench(|| relay(black_box(&stream)));
    }

    /// Passes events that need no change through a client without a gateway.
    #[divan::bench(args = ANSWERS)]
    fn correct_as_it_came(bencher: Bencher<'_, '_>, deltas: usize) {
        let stream = TextStream::with_deltas(deltas, Numbers::Right);
        bencher
            .counter(length(&stream))
            .counter(ItemsCount::new(deltas))
            .bench(|| correct(black_box(&stream)));
    }

    /// Decodes, assembles and encodes events that need no change.
    #[divan::bench(args = ANSWERS)]
    fn relay_as_it_came(bencher: Bencher<'_, '_>, deltas: usize) {
        bench(bencher, deltas, Numbers::Right);
    }

    /// Decodes, assembles and encodes events that all need other sequence numbers.
    #[divan::bench(args = ANSWERS)]
    fn relay_renumbered(bencher: Bencher<'_, '_>, deltas: usize) {
        bench(bencher, deltas, Numbers::Wrong);
    }
}

/// Converts a stream from the upstream's dialect to the client's.
mod dialects {
    use antiphon::dialect::Dialect;
    use divan::counter::{BytesCount, ItemsCount};

    use super::given::{
        AiSdk, Anthropic, Chat, Responses, Said, TextStream, Upstream, convert, encoded, sealed_run,
    };
    use super::{ANSWERS, Bencher, black_box};

    fn bench<U: Upstream>(bencher: Bencher<'_, '_>, to: Dialect, message: Said, deltas: usize) {
        let stream = TextStream::from::<U>(message, deltas);
        bencher
            .counter(BytesCount::new(stream.chunks.iter().map(bytes::Bytes::len).sum::<usize>()))
            .counter(ItemsCount::new(deltas))
            .bench(|| convert(U::DIALECT, to, black_box(&stream)));
    }

    #[divan::bench(types = [Responses, Chat, Anthropic, AiSdk], args = ANSWERS)]
    fn text_to_responses<U: Upstream>(bencher: Bencher<'_, '_>, deltas: usize) {
        bench::<U>(bencher, Dialect::Responses, Said::Text, deltas);
    }

    #[divan::bench(types = [Responses, Chat, Anthropic, AiSdk], args = ANSWERS)]
    fn text_to_anthropic<U: Upstream>(bencher: Bencher<'_, '_>, deltas: usize) {
        bench::<U>(bencher, Dialect::Anthropic, Said::Text, deltas);
    }

    #[divan::bench(types = [Responses, Chat, Anthropic, AiSdk], args = ANSWERS)]
    fn arguments_to_responses<U: Upstream>(bencher: Bencher<'_, '_>, deltas: usize) {
        bench::<U>(bencher, Dialect::Responses, Said::Arguments, deltas);
    }

    #[divan::bench(types = [Responses, Chat, Anthropic, AiSdk], args = ANSWERS)]
    fn arguments_to_anthropic<U: Upstream>(bencher: Bencher<'_, '_>, deltas: usize) {
        bench::<U>(bencher, Dialect::Anthropic, Said::Arguments, deltas);
    }

    /// Encodes a request of `count` items.
    #[divan::bench(types = [Chat, Anthropic], args = ANSWERS)]
    fn encode<U: Upstream>(bencher: Bencher<'_, '_>, count: usize) {
        let items = sealed_run(U::DIALECT, count);
        bencher
            .counter(BytesCount::new(items.iter().map(|item| item.raw().len()).sum::<usize>()))
            .counter(ItemsCount::new(count))
            .bench(|| encoded(U::DIALECT, black_box(&items)));
    }
}
