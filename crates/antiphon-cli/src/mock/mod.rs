//! `antiphon mock`.

mod args;

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use antiphon_mock::{Options, Rules, Script, StrictProvider};

pub(crate) use args::{MockArgs, SimArgs};

use crate::failure::Failure;
use crate::platform::{Signals, raise_open_file_limit};

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
    raise_open_file_limit();
    let mut signals = Signals::listen().map_err(|error| {
        Failure::runtime(format!("signal handlers cannot be installed: {error}"))
    })?;
    let is_strict = options.rules == Rules::Strict;
    let provider = StrictProvider::with_options(options)
        .bind(address)
        .await
        .map_err(|error| Failure::runtime(format!("cannot listen on {address}: {error}")))?;
    for script in scripts {
        provider.script(script);
    }
    announce(&provider.base_url(), is_strict);
    signals.next().await;
    Ok(())
}

fn options(MockArgs { lenient, behavior }: &MockArgs) -> Result<Options, Failure> {
    Ok(Options {
        seed: behavior.seed.clone(),
        profile: parse_name("--profile", &behavior.profile, "openai, azure and open-responses")?,
        rules: if *lenient { Rules::Lenient } else { Rules::Strict },
        on_abort: parse_name("--on-abort", &behavior.on_abort, "part, whole and nothing")?,
        log_capacity: LOG_CAPACITY,
        ..Options::default()
    })
}

fn parse_name<T: FromStr>(flag: &str, name: &str, all: &str) -> Result<T, Failure> {
    name.parse().map_err(|_| Failure::usage(format!("{flag}: '{name}' is none of {all}")))
}

fn listen(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        let sentence = "is not an IP address with a port, such as 127.0.0.1:8485";
        Failure::usage(format!("--listen: '{text}' {sentence}"))
    })
}

fn scripts(path: &Path) -> Result<Vec<Script>, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("--script: {name} cannot be read: {error}")))?;
    Script::read_all(&text)
        .map_err(|error| Failure::usage(format!("--script: {name} is not a valid script: {error}")))
}

/// Prints one line on standard output, for programs, and a greeting with a first request on
/// standard error, for people. A failed write does not stop the provider.
fn announce(base_url: &str, is_strict: bool) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "antiphon listening on {base_url}").and_then(|()| out.flush());
    let root = base_url.trim_end_matches("/v1");
    let behavior = match is_strict {
        true => "A strict provider: it rejects the requests that OpenAI would reject.",
        false => "A lenient provider: its model receives resent items twice (see /log).",
    };
    let _ = writeln!(
        io::stderr(),
        "
{behavior}

Base URL: {base_url}

  curl {base_url}/responses -H 'Authorization: Bearer any' \\
    -H 'Content-Type: application/json' \\
    -d '{{\"model\": \"any\", \"input\": \"My color is purple\"}}'

or in Python:

  from openai import OpenAI

  client = OpenAI(base_url=\"{base_url}\", api_key=\"any\")

The input of the model: curl {root}/log
"
    );
}
