//! The upstream's process, from the side of the load.

use std::net::SocketAddr;
use std::process::Stdio;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::client::Client;
use crate::upstream::{READY, Script, Verdict};

/// The running upstream. Dropping it ends the process.
pub(crate) struct JudgedUpstream {
    pub(crate) address: SocketAddr,
    client: Client,
    _process: Child,
    _output: BufReader<ChildStdout>,
}

/// The argument with which this program serves as the upstream.
pub(crate) const ROLE: &str = "upstream";

impl JudgedUpstream {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(ROLE)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut output = BufReader::new(process.stdout.take().context("it was piped")?);
        let mut line = String::new();
        output.read_line(&mut line).await?;
        let address = line.trim_end().strip_prefix(READY).context("the upstream did not start")?;
        let address = address.parse()?;
        Ok(Self { address, client: Client::new(address), _process: process, _output: output })
    }

    /// Makes the upstream follow this script from now on.
    pub(crate) async fn follow(&self, script: &Script) -> anyhow::Result<()> {
        self.client.post("/script", serde_json::to_string(script)?).await?;
        Ok(())
    }

    /// The judgement of all requests since the last call.
    pub(crate) async fn take_verdict(&self) -> anyhow::Result<Verdict> {
        let verdict = self.client.post("/verdict", String::new()).await?;
        Ok(serde_json::from_value(verdict)?)
    }
}
