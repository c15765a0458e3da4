//! `antiphon doctor`: checks everything that a gateway with these settings needs, and names the
//! next step for each failure.

mod args;
mod clock;
mod finding;
mod listeners;
mod settings_check;
mod store;
mod upstream;

use std::process::ExitCode;
use std::time::Duration;

pub(crate) use args::DoctorArgs;
use finding::{Finding, Status};
use upstream::Examination;

use crate::failure::{Failure, print};
use crate::settings::{self, Configuration};

/// Prints one line for each check. The exit code is 1 if a check failed.
pub(crate) fn doctor(args: DoctorArgs) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?;
    let json = args.json;
    let findings = runtime.block_on(examine(args));
    // A database file that another program locks must not delay the end.
    runtime.shutdown_background();
    let has_failed = findings.iter().any(|finding| finding.status == Status::Failed);
    match print_lines(&findings, json) {
        Ok(()) | Err(Failure::Unread) => {}
        Err(failure) => return Err(failure),
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn examine(args: DoctorArgs) -> Vec<Finding> {
    let timeout = Duration::from_secs(args.timeout.get().into());
    let resolved =
        settings::resolve(args.settings, settings::environment, &settings::variable_names());
    let mut findings = vec![settings_check::version()];
    match resolved {
        Ok(configuration) => {
            findings.extend(settings_check::check(&configuration));
            findings.extend(examine_parts(&configuration, &args.model, timeout).await);
        }
        Err(failure) => findings.push(settings_check::invalid(&failure)),
    }
    findings
}

async fn examine_parts(
    configuration: &Configuration,
    models: &[String],
    timeout: Duration,
) -> Vec<Finding> {
    let mut findings = listeners::check(configuration).await;
    let examination = Examination::run(&configuration.gateway, models, timeout).await;
    findings.extend(examination.findings);
    findings.push(clock::check(&examination.dates));
    findings.extend(store::check(configuration, timeout).await);
    findings
}

fn print_lines(findings: &[Finding], json: bool) -> Result<(), Failure> {
    let lines = findings.iter().map(|finding| match json {
        true => format!("{}\n", serde_json::json!(finding)),
        false => format!("{finding}\n"),
    });
    print(&lines.collect::<String>())
}
