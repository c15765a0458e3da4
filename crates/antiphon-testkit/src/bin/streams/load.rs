//! Many simultaneous streams.

use std::error::Error;
use std::future::Future;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use antiphon_mock::{Answer, Exchange, Reply};
use antiphon_testkit::FakeUpstream;
use antiphon_testkit::process::{Gateway, Memory};
use futures_util::{StreamExt as _, stream};

use crate::caller::Caller;
use crate::report::Report;

/// A gateway, its upstream and the number of streams.
pub(crate) struct Load {
    gateway: Gateway,
    upstream: FakeUpstream,
    count: usize,
}

/// The result of one step.
pub(crate) struct Step {
    pub(crate) took: Duration,
    /// The gateway's memory after the step.
    pub(crate) memory: Memory,
}

/// The number of callers that connect at once: below the usual length of an accept queue.
const AT_ONCE: usize = 128;
/// The number of turns before the first measurement. They start the threads and fill the caches.
const WARM_UP_TURNS: usize = 256;

impl Load {
    pub(crate) async fn start(antiphon: &Path, count: usize) -> Result<Self, Box<dyn Error>> {
        let upstream = FakeUpstream::start().await;
        let gateway = Gateway::start(antiphon, &upstream.base_url(), &[]).await?;
        Ok(Self { gateway, upstream, count })
    }

    pub(crate) async fn run(self) -> io::Result<Report> {
        let mut failures = Vec::new();
        let before = self.warm_up(&mut failures).await?;

        let exchanges = self.script_paused(self.count);
        let address = self.gateway.address();
        let opening = (0..self.count).map(|_| Caller::open(address));
        let (callers, opened) = self.step(opening, &mut failures).await?;

        for exchange in &exchanges {
            exchange.release(1);
        }
        let reading = callers.into_iter().map(Caller::read_next_delta);
        let (callers, advanced) = self.step(reading, &mut failures).await?;

        exchanges.iter().for_each(Exchange::release_all);
        let (ends, ended) = self.step(callers.into_iter().map(Caller::end), &mut failures).await?;
        Ok(Report {
            count: self.count,
            before,
            opened,
            advanced,
            ended,
            whole: ends.len(),
            failures,
        })
    }

    async fn warm_up(&self, failures: &mut Vec<io::Error>) -> io::Result<Memory> {
        let exchanges = self.script_paused(WARM_UP_TURNS);
        exchanges.iter().for_each(Exchange::release_all);
        let turns = (0..WARM_UP_TURNS)
            .map(|_| async { Caller::open(self.gateway.address()).await?.end().await });
        Ok(self.step(turns, failures).await?.1.memory)
    }

    /// Scripts `count` answers that pause after their first piece of text.
    fn script_paused(&self, count: usize) -> Vec<Exchange> {
        let frames = Answer::new("fake-model").message("Once upon a time").frames();
        let is_text = |name: Option<&str>| name == Some("response.output_text.delta");
        let begun = frames.iter().take_while(|frame| !is_text(frame.name())).count() + 1;
        let reply = Reply::sse(frames).hang_after(begun);
        (0..count).map(|_| self.upstream.script(reply.clone())).collect()
    }

    /// Runs the step for every stream. Streams that fail are dropped and counted.
    async fn step<T, F: Future<Output = io::Result<T>>>(
        &self,
        all: impl Iterator<Item = F>,
        failures: &mut Vec<io::Error>,
    ) -> io::Result<(Vec<T>, Step)> {
        let started = Instant::now();
        let results: Vec<_> = stream::iter(all).buffer_unordered(AT_ONCE).collect().await;
        let took = started.elapsed();
        let mut done = Vec::with_capacity(results.len());
        for result in results {
            result.map_or_else(|error| failures.push(error), |it| done.push(it));
        }
        Ok((done, Step { took, memory: self.gateway.memory()? }))
    }
}
