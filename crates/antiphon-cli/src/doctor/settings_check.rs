//! The version of the command, the settings and their sources.

use super::finding::Finding;
use crate::failure::Failure;
use crate::platform;
use crate::settings::{Configuration, Sources};

/// The version of the command and its platform.
pub(super) fn version() -> Finding {
    let (version, os, cpu) =
        (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    Finding::ok("version", format!("antiphon {version} for {os} on {cpu}"))
}

/// Settings that no gateway accepts.
pub(super) fn invalid(failure: &Failure) -> Finding {
    Finding::failed("settings", failure.to_string())
        .next("Correct this setting; `antiphon serve --help` lists all of them.")
}

/// The sources of the settings, and the settings that may be mistakes.
pub(super) fn check(configuration: &Configuration) -> Vec<Finding> {
    let sources = &configuration.sources;
    let mut findings = vec![settings_file(sources), Finding::ok("settings", list(sources))];
    findings.extend(configuration.warnings.iter().map(|warning| {
        Finding::warning("settings", warning).next("Correct the name, or remove the setting.")
    }));
    findings
}

/// The permissions of a file matter only if it contains secrets.
fn settings_file(sources: &Sources) -> Finding {
    const CHECK: &str = "settings file";
    let Some(path) = &sources.file else {
        return Finding::ok(CHECK, "none is used; `antiphon init` writes one");
    };
    let name = path.display();
    match platform::shared_mode(path) {
        Some(mode) if sources.file_has_secrets => Finding::warning(
            CHECK,
            format!("{name} contains keys, and other users can access it (mode {mode:04o})"),
        )
        .next(format!("Run: chmod 600 {name}")),
        None if sources.file_has_secrets && !platform::HAS_MODES => {
            let sentence = "contains keys; its permissions are not checked on this system";
            Finding::ok(CHECK, format!("{name} is read, and {sentence}"))
        }
        _ => Finding::ok(CHECK, format!("{name} is read")),
    }
}

/// The settings that are not at their defaults, each with its source.
fn list(sources: &Sources) -> String {
    if sources.settings.is_empty() {
        return "all settings are at their defaults".to_owned();
    }
    let setting = |(key, place): &(&str, String)| format!("{key} from {place}");
    sources.settings.iter().map(setting).collect::<Vec<_>>().join(", ")
}
