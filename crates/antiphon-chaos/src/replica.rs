//! A gateway as a separate process.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::gateway_client::GatewayClient;

/// The options of a gateway process.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The `antiphon` binary.
    pub(crate) binary: PathBuf,
    /// The working directory, which also gets the log.
    pub(crate) folder: PathBuf,
    /// The store's URL.
    pub(crate) store: String,
    /// The provider's URL.
    pub(crate) upstream: String,
}

/// A running gateway.
pub(crate) struct Replica {
    child: Child,
    gateway: GatewayClient,
}

/// The time limit for starting a gateway.
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
            .with_context(|| format!("could not run {}", launch.binary.display()))?;
        let stdout = child.stdout.take().context("the standard output was not piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(STARTING, lines.next_line()).await.context("no start in time")??;
        let address = line
            .as_deref()
            .and_then(|line| line.strip_prefix("antiphon listening on http://"))
            .and_then(|url| url.strip_suffix("/v1"));
        match address {
            Some(address) => Ok(Self { gateway: GatewayClient(address.parse()?), child }),
            None => bail!("the gateway did not start; its log is in {}", launch.folder.display()),
        }
    }

    /// A client for the gateway.
    pub(crate) fn gateway(&self) -> GatewayClient {
        self.gateway
    }

    /// Kills the process with SIGKILL and waits until it has exited.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("could not kill the gateway")
    }

    /// Whether the process has exited without being killed.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

fn log(folder: &Path) -> anyhow::Result<File> {
    Ok(OpenOptions::new().create(true).append(true).open(folder.join("gateway.log"))?)
}
