//! `antiphon mock`.

mod args;
mod greeting;

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use antiphon_mock::{Options, Rules, Script, StrictProvider};

pub(crate) use args::{MockArgs, SimArgs};

use crate::failure::Failure;
use crate::serve::make_room_for_connections;
use crate::signals::Signals;
use greeting::Greeting;

/// The number of requests in the log. The test of an agent sends fewer, and each one contains a
/// whole context.
const LOG_CAPACITY: usize = 1_000;

/// Serves until a signal arrives.
pub(crate) fn mock(args: &MockArgs) -> Result<ExitCode, Failure> {
    let options = options(args)?;
    let address = listen(&args.behavior.listen)?;
    let scripts = args.behavior.script.as_deref().map_or(Ok(Vec::new()), scripts)?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(run(address, options, scripts))?;
    Ok(ExitCode::SUCCESS)
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

fn options(MockArgs { lenient, behavior }: &MockArgs) -> Result<Options, Failure> {
    Ok(Options {
        seed: behavior.seed.clone(),
        profile: named("--profile", &behavior.profile, "openai, azure and open-responses")?,
        rules: if *lenient { Rules::Lenient } else { Rules::Strict },
        on_abort: named("--on-abort", &behavior.on_abort, "part, whole and nothing")?,
        log_capacity: LOG_CAPACITY,
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
