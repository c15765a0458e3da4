//! Many streams, all at once.

use std::error::Error;
use std::future::Future;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use antiphon_testkit::process::{Gateway, Memory};
use antiphon_testkit::{Answer, Exchange, FakeUpstream, Reply};
use futures_util::{StreamExt as _, stream};

use crate::caller::Caller;
use crate::report::Report;

/// A gateway, its upstream and how many streams there are to be.
pub(crate) struct Load {
    gateway: Gateway,
    upstream: FakeUpstream,
    count: usize,
}

/// How a step went.
pub(crate) struct Step {
    pub(crate) took: Duration,
    /// The gateway's memory behind it.
    pub(crate) memory: Memory,
}

/// How many callers connect at once: fewer than systems let wait to be accepted.
const AT_ONCE: usize = 128;
/// How many turns are run to their end before anything is measured: threads are then there, and
/// caches are filled.
const BEFORE: usize = 256;

impl Load {
    pub(crate) async fn start(antiphon: &Path, count: usize) -> Result<Self, Box<dyn Error>> {
        let upstream = FakeUpstream::start().await;
        let gateway = Gateway::start(antiphon, &upstream.base_url(), &[]).await?;
        Ok(Self { gateway, upstream, count })
    }

    pub(crate) async fn run(self) -> io::Result<Report> {
        let mut failures = Vec::new();
        let before = self.warm_up(&mut failures).await?;

        let exchanges = self.held(self.count);
        let address = self.gateway.address();
        let opening = (0..self.count).map(|_| Caller::open(address));
        let (callers, opened) = self.step(opening, &mut failures).await?;

        for exchange in &exchanges {
            exchange.release(1);
        }
        let going_on = callers.into_iter().map(Caller::go_on);
        let (callers, went_on) = self.step(going_on, &mut failures).await?;

        exchanges.iter().for_each(Exchange::release_all);
        let (ends, ended) = self.step(callers.into_iter().map(Caller::end), &mut failures).await?;
        Ok(Report {
            count: self.count,
            before,
            opened,
            went_on,
            ended,
            whole: ends.len(),
            failures,
        })
    }

    async fn warm_up(&self, failures: &mut Vec<io::Error>) -> io::Result<Memory> {
        let exchanges = self.held(BEFORE);
        exchanges.iter().for_each(Exchange::release_all);
        let turns =
            (0..BEFORE).map(|_| async { Caller::open(self.gateway.address()).await?.end().await });
        Ok(self.step(turns, failures).await?.1.memory)
    }

    /// So many answers that stop behind their first piece of text.
    fn held(&self, count: usize) -> Vec<Exchange> {
        let frames = Answer::new("fake-model").message("Once upon a time").frames();
        let is_text = |name: Option<&str>| name == Some("response.output_text.delta");
        let begun = frames.iter().take_while(|frame| !is_text(frame.name())).count() + 1;
        let reply = Reply::sse(frames).hang_after(begun);
        (0..count).map(|_| self.upstream.script(reply.clone())).collect()
    }

    /// Does it for every stream. What failed is no longer there afterwards.
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
