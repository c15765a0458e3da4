//! A gateway as a separate process, for measurements.

use std::error::Error;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// A running `antiphon serve` with its own store. Dropping it ends the process.
#[derive(Debug)]
pub struct Gateway {
    process: Child,
    address: SocketAddr,
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
}

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The resident memory now.
    pub resident: u64,
    /// The maximum since the process started, or since [`Gateway::forget_peak`].
    pub peak: u64,
}

impl Gateway {
    /// Starts a gateway for this upstream, with additional arguments. The process inherits no
    /// environment variables except those that configure an allocator.
    pub async fn start(
        program: &Path,
        upstream: &str,
        more: &[&str],
    ) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--upstream", upstream])
            .args(more)
            .current_dir(folder.path())
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| configures_allocator(name)))
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

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resets the peak to the current resident memory.
    pub fn forget_peak(&self) -> io::Result<()> {
        fs::write(format!("/proc/{}/clear_refs", self.id()?), "5")
    }

    /// The current memory, as Linux reports it.
    pub fn memory(&self) -> io::Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        Ok(Memory { resident: field(&status, "VmRSS:")?, peak: field(&status, "VmHWM:")? })
    }

    fn id(&self) -> io::Result<u32> {
        self.process.id().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn configures_allocator(name: &str) -> bool {
    let prefixes = ["MALLOC_", "MIMALLOC_", "_RJEM_", "GLIBC_TUNABLES", "LD_PRELOAD"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

fn field(status: &str, name: &str) -> io::Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes = kibibytes.and_then(|number| number.parse::<u64>().ok());
    Ok(kibibytes.ok_or(io::ErrorKind::InvalidData)? << 10)
}
