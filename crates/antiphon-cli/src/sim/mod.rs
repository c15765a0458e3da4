//! `antiphon sim`.

mod args;
mod greeting;

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::str::FromStr;

use antiphon_mock::{Options, Rules, Script, StrictProvider};

pub(crate) use args::SimArgs;

use crate::failure::Failure;
use crate::serve::make_room_for_connections;
use crate::signals::Signals;
use greeting::Greeting;

/// The number of requests that the log holds. An agent's test sends fewer, and each one holds a
/// whole context.
const REQUESTS_KEPT: usize = 1_000;

/// Serves until a signal arrives.
pub(crate) fn sim(args: &SimArgs) -> Result<(), Failure> {
    let options = options(args)?;
    let address = listen(&args.listen)?;
    let scripts = args.script.as_deref().map_or(Ok(Vec::new()), scripts)?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(run(address, options, scripts))
}

async fn run(address: SocketAddr, options: Options, scripts: Vec<Script>) -> Result<(), Failure> {
    make_room_for_connections();
    let mut signals = Signals::listen()
        .map_err(|error| Failure::runtime(format!("signals cannot be heard: {error}")))?;
    let is_strict = options.rules == Rules::Strict;
    let provider = StrictProvider::with_options(options)
        .bind(address)
        .await
        .map_err(|error| Failure::runtime(format!("cannot listen on {address}: {error}")))?;
    for script in scripts {
        provider.script(script);
    }
    announce(&Greeting { base_url: provider.base_url(), is_strict });
    signals.next().await;
    Ok(())
}

fn options(args: &SimArgs) -> Result<Options, Failure> {
    Ok(Options {
        seed: "sim".to_owned(),
        profile: named("--profile", &args.profile, "openai, azure and open-responses")?,
        rules: if args.strict { Rules::Strict } else { Rules::Lenient },
        on_abort: named("--on-abort", &args.on_abort, "part, whole and nothing")?,
        log_capacity: REQUESTS_KEPT,
        ..Options::default()
    })
}

fn named<T: FromStr>(flag: &str, name: &str, all: &str) -> Result<T, Failure> {
    name.parse().map_err(|_| Failure::usage(format!("{flag}: '{name}' is none of {all}")))
}

fn listen(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        let sentence = "is not an IP address with a port, as 127.0.0.1:8485 is";
        Failure::usage(format!("--listen: '{text}' {sentence}"))
    })
}

fn scripts(path: &Path) -> Result<Vec<Script>, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("--script: {name} cannot be read: {error}")))?;
    Script::read_all(&text)
        .map_err(|error| Failure::usage(format!("--script: {name} is no script: {error}")))
}

/// Prints one line on standard output, for programs, and the greeting on standard error, for
/// people. A failed write does not stop the provider.
fn announce(greeting: &Greeting) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "antiphon listening on {}", greeting.base_url).and_then(|()| out.flush());
    let _ = writeln!(io::stderr(), "{greeting}");
}
