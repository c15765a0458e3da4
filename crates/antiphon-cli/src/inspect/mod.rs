//! `antiphon inspect`: shows the conversations of a tenant, and how each turn treated its items.

mod args;
mod remote;
mod source;
mod style;
mod text;
mod time;

use std::process::ExitCode;
use std::time::Duration;

use antiphon_gateway::inspect::model::{ConversationPage, ConversationView};
use antiphon_gateway::inspect::{ListPart, ListQuery};
use serde::Serialize;

pub(crate) use self::args::InspectArgs;
use self::remote::{Remote, RemoteChanges};
use self::source::Source;
use self::style::Style;
use self::text::Printer;
use crate::failure::{Failure, print};
use crate::one_line::one_line;
use crate::settings::{self, DEFAULT_STORE};

/// The pause between two reads of a store that is followed.
const POLL: Duration = Duration::from_secs(1);

/// Prints the list of conversations, or one conversation.
pub(crate) fn inspect(args: InspectArgs) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?;
    runtime.block_on(run(args))
}

async fn run(args: InspectArgs) -> Result<ExitCode, Failure> {
    let InspectArgs { conversation, store, url, tenant, key, search, show, limit, json, follow } =
        args;
    let source = if let Some(url) = url {
        Source::Gateway(Box::new(Remote::new(&url, key)?))
    } else {
        let access = settings::optional_access(store, Vec::new(), settings::environment)?;
        Source::from_store(access.ok_or_else(no_source)?, tenant).await?
    };
    let limit = usize::from(limit.get());
    let shown = Shown { source, conversation, search, show, limit };
    let mut output = Output { style: Style::detect()?, is_json: json };
    match follow {
        true => follow_changes(&shown, &mut output).await?,
        false => output.print(&shown.load().await?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a command that names neither a store nor a gateway.
fn no_source() -> Failure {
    Failure::usage(format!(
        "give --url URL of a running gateway, such as http://127.0.0.1:8484, or --store URL (or \
         ANTIPHON_STORE), such as {DEFAULT_STORE}, the default of `antiphon serve` in its folder"
    ))
}

/// The values to show.
struct Shown {
    source: Source,
    conversation: Option<String>,
    search: Option<String>,
    show: Option<ListPart>,
    limit: usize,
}

/// The loaded values.
#[derive(Serialize)]
#[serde(untagged)]
enum Loaded {
    Page(ConversationPage),
    View(Box<ConversationView>),
}

impl Shown {
    async fn load(&self) -> Result<Loaded, Failure> {
        let Some(id) = &self.conversation else { return self.load_list().await.map(Loaded::Page) };
        let view = self.source.newest_turns(id, self.limit).await?;
        let missing = || {
            Failure::runtime(format!(
                "the tenant has no conversation or response '{}'",
                one_line(id)
            ))
        };
        Ok(Loaded::View(Box::new(view.ok_or_else(missing)?)))
    }

    /// As many conversations as the limit says, from as many pages as that needs.
    async fn load_list(&self) -> Result<ConversationPage, Failure> {
        let mut all = ConversationPage::default();
        loop {
            let query = ListQuery {
                after: all.next.take(),
                limit: Some(self.limit - all.data.len()),
                search: self.search.clone(),
                show: self.show,
            };
            let page = self.source.conversations(&query).await?;
            all.data.extend(page.data);
            (all.next, all.is_cut) = (page.next, page.is_cut);
            if all.data.len() >= self.limit || all.next.is_none() || all.is_cut {
                return Ok(all);
            }
        }
    }
}

/// Standard output.
struct Output {
    style: Style,
    is_json: bool,
}

impl Output {
    fn print(&self, loaded: &Loaded) -> Result<(), Failure> {
        print(&self.render(loaded))
    }

    fn render(&self, loaded: &Loaded) -> String {
        if self.is_json {
            return format!("{}\n", to_json(loaded));
        }
        let mut printer = Printer::new(self.style);
        match loaded {
            Loaded::Page(page) => printer.page(page),
            Loaded::View(view) => printer.view(view),
        }
        printer.finish()
    }
}

fn to_json(loaded: &Loaded) -> String {
    serde_json::to_string(loaded).expect("the values are plain data")
}

/// Prints the values, and again after each change of them. Ends with the gateway's stream.
async fn follow_changes(shown: &Shown, output: &mut Output) -> Result<(), Failure> {
    let mut changes = Changes::listen(&shown.source).await?;
    let mut last = String::new();
    while changes.next().await? {
        let loaded = shown.load().await?;
        let now = to_json(&loaded);
        if now != last {
            output.print(&loaded)?;
            last = now;
        }
    }
    Ok(())
}

/// The times at which to read again.
enum Changes {
    /// The gateway announces each change.
    Stream(Box<RemoteChanges>),
    /// A store is read again after a pause.
    Poll(tokio::time::Interval),
}

impl Changes {
    async fn listen(source: &Source) -> Result<Self, Failure> {
        Ok(match source {
            Source::Gateway(remote) => Self::Stream(Box::new(remote.follow().await?)),
            Source::Store { .. } => Self::Poll(tokio::time::interval(POLL)),
        })
    }

    /// Waits until values may have changed; the first time, not at all. Returns `false` at the end.
    async fn next(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Stream(changes) => changes.next().await,
            Self::Poll(interval) => {
                interval.tick().await;
                Ok(true)
            }
        }
    }
}
