//! Opens a page in the user's browser.

use std::env;
use std::process::{Command, Stdio};
use std::thread;

use crate::platform::BROWSER_COMMANDS;

/// Opens the page with the first command that exists. The browser gets no terminal, because the
/// agent uses it.
pub(super) fn open(url: &str) {
    let chosen = env::var_os("BROWSER").filter(|command| !command.is_empty());
    let commands = chosen.into_iter().chain(BROWSER_COMMANDS.iter().map(Into::into));
    for command in commands {
        let mut opener = Command::new(&command);
        opener.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match opener.spawn() {
            Ok(mut child) => {
                // Releases the process of a command that ends. Its exit code does not matter.
                thread::spawn(move || _ = child.wait());
                return;
            }
            Err(error) => tracing::debug!(?command, %error, "no browser was opened"),
        }
    }
}
