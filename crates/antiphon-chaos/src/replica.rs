//! A gateway as a process of its own.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::wire::Wire;

/// How a gateway is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The `antiphon` binary.
    pub(crate) binary: PathBuf,
    /// The folder that it runs in; its log goes there.
    pub(crate) folder: PathBuf,
    /// The store's URL.
    pub(crate) store: String,
    /// The provider's URL.
    pub(crate) upstream: String,
}

/// A gateway that serves.
pub(crate) struct Replica {
    child: Child,
    wire: Wire,
}

/// For how long a gateway may take to serve.
const STARTING: Duration = Duration::from_secs(30);

impl Replica {
    /// Starts a gateway and waits until it serves.
    pub(crate) async fn start(launch: &Launch, turn_wait: u32) -> anyhow::Result<Self> {
        let mut child = Command::new(&launch.binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", &launch.store])
            .args(["--upstream", &launch.upstream, "--turn-wait", &turn_wait.to_string()])
            .current_dir(&launch.folder)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log(&launch.folder)?)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} cannot be run", launch.binary.display()))?;
        let stdout = child.stdout.take().context("its output is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(STARTING, lines.next_line()).await.context("it does not serve")??;
        let address = line
            .as_deref()
            .and_then(|line| line.strip_prefix("antiphon listening on http://"))
            .and_then(|url| url.strip_suffix("/v1"));
        match address {
            Some(address) => Ok(Self { wire: Wire(address.parse()?), child }),
            None => bail!("the gateway does not start; its log is in {}", launch.folder.display()),
        }
    }

    /// How clients reach it.
    pub(crate) fn wire(&self) -> Wire {
        self.wire
    }

    /// Kills it, as `kill -9` does, and waits until it is gone.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("the gateway cannot be killed")
    }

    /// Whether it has ended without being killed.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

fn log(folder: &Path) -> anyhow::Result<File> {
    Ok(OpenOptions::new().create(true).append(true).open(folder.join("gateway.log"))?)
}
