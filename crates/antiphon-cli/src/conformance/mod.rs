//! `antiphon conformance`: compares a server with the rules of the strict provider.
//!
//! The rules are data. The expected errors are those of `antiphon-mock`, from its catalogue.

mod args;
mod comparison;
mod report;
mod rule;
mod server;
mod session;
mod variables;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use antiphon_gateway::settings::Secret;
use tokio::sync::watch;

pub(crate) use args::ConformanceArgs;
use report::{Report, Verdict};
use server::Server;
use session::{CreatedObjects, Session};

use crate::failure::Failure;
use crate::one_line::one_line;
use crate::platform::Signals;
use crate::{settings, signals};

/// The variable with the key, as for the provider's own clients.
const KEY: &str = "OPENAI_API_KEY";

/// Tries all rules. The exit code is 0 if all answers are as expected, 1 if some differ, and 2 if
/// the rules could not be tried.
pub(crate) fn conformance(args: ConformanceArgs) -> Result<ExitCode, Failure> {
    let key = match args.key {
        Some(key) => key,
        None => settings::environment(KEY)?
            .map(Secret::new)
            .ok_or_else(|| Failure::usage(format!("give a key: --key KEY, or {KEY}")))?,
    };
    let timeout = Duration::from_secs(args.timeout.get().into());
    let server = Server::new(&args.base_url, key, args.api_key_header.as_deref(), timeout)?;
    let file = args.json.as_deref().map(create).transpose()?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(run(&server, &args.model, file))
}

/// Creates the file before the first request, so that no run is without its report.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::usage(format!("--json: {} cannot be written: {error}", path.display()))
    })
}

/// Runs until the end, or until a second request to stop. The first signal ends the run after the
/// request that is open, whose answer may name an object to delete.
async fn run(server: &Server, model: &str, file: Option<File>) -> Result<ExitCode, Failure> {
    let mut signals = Signals::listen()
        .map_err(|error| Failure::runtime(format!("signals cannot be heard: {error}")))?;
    let created = CreatedObjects::default();
    let (interrupt, interrupted) = watch::channel(false);
    let interruption = async {
        signals.next().await;
        eprintln!(
            "stopping: the objects of this run are deleted; a signal after more than a second \
             leaves them"
        );
        interrupt.send_replace(true);
        signals::second_request(&mut signals).await;
    };
    tokio::select! {
        code = try_rules(server, model, &created, interrupted, file) => code,
        () = interruption => {
            let left = created.paths().join(", ");
            eprintln!(
                "error: stopped by a second signal, perhaps before the open request created an \
                 object; not deleted: {left}"
            );
            Ok(ExitCode::from(2))
        }
    }
}

async fn try_rules(
    server: &Server,
    model: &str,
    created: &CreatedObjects,
    interrupted: watch::Receiver<bool>,
    file: Option<File>,
) -> Result<ExitCode, Failure> {
    let (rules, steps) = (rule::rules(), rule::steps());
    let mut session = Session::new(server, model, &steps, created, interrupted.clone());
    if let Err(reason) = session.check().await {
        session.delete_objects().await;
        eprintln!("error: {}", one_line(&reason));
        return Ok(ExitCode::from(2));
    }
    let mut report = Report::default();
    for rule in &rules {
        let result = session.try_rule(rule).await;
        print(&report.add(rule, &result));
    }
    session.delete_objects().await;
    let left = created.paths();
    print(&report.summary(session.cost, &left));
    if let Some(mut file) = file {
        let json = report.to_json(server.base(), model, session.cost, &left);
        writeln!(file, "{json:#}")
            .map_err(|error| Failure::runtime(format!("the report cannot be written: {error}")))?;
    }
    Ok(match report.verdict() {
        _ if *interrupted.borrow() => ExitCode::from(2),
        Verdict::Equal => ExitCode::SUCCESS,
        Verdict::Different => ExitCode::from(1),
        Verdict::Incomplete => ExitCode::from(2),
    })
}

/// Prints lines. A failed write does not end the run, which still has objects to delete.
fn print(lines: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
}
