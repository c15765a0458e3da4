//! The gateway under load.

use std::error::Error;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// An `antiphon serve` on a store of its own. It ends with this.
pub(crate) struct Gateway {
    process: Child,
    address: SocketAddr,
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// What is resident now.
    pub(crate) resident: u64,
    /// The most that was.
    pub(crate) peak: u64,
}

impl Gateway {
    /// Starts it in front of this upstream.
    pub(crate) async fn start(program: &Path, upstream: &str) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--upstream", upstream])
            .current_dir(folder.path())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut output = BufReader::new(process.stdout.take().ok_or("no standard output")?);
        let mut line = String::new();
        output.read_line(&mut line).await?;
        let address = line.trim_end().strip_prefix("antiphon listening on http://");
        let address = address.and_then(|url| url.strip_suffix("/v1")).ok_or("it did not start")?;
        Ok(Self { process, address: address.parse()?, _output: output, _folder: folder })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it takes now, as Linux tells it.
    pub(crate) fn memory(&self) -> io::Result<Memory> {
        let id = self.process.id().ok_or(io::ErrorKind::NotFound)?;
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        Ok(Memory { resident: field(&status, "VmRSS:")?, peak: field(&status, "VmHWM:")? })
    }
}

fn field(status: &str, name: &str) -> io::Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes = kibibytes.and_then(|number| number.parse::<u64>().ok());
    Ok(kibibytes.ok_or(io::ErrorKind::InvalidData)? << 10)
}
