//! Counts the writes of a server to its files, with strace.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The calls that reached the kernel so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileCalls {
    /// Calls of `fsync` and `fdatasync`.
    pub(crate) syncs: u64,
    /// Pages that `SQLite` appended to its write-ahead log.
    pub(crate) wal_pages: u64,
}

/// The length of the header before each page of the write-ahead log, as the calls name it.
const PAGE_HEADER: &str = ", 24, ";

/// strace, if it is installed.
pub(super) fn program() -> Option<PathBuf> {
    let search_path = env::var_os("PATH")?;
    let mut candidates = env::split_paths(&search_path).map(|folder| folder.join("strace"));
    candidates.find(|program| program.is_file())
}

/// The arguments of strace before the traced program.
pub(super) fn arguments(output: &Path) -> Vec<String> {
    let calls = "trace=fsync,fdatasync,pwrite64";
    let output = output.display().to_string();
    ["-f", "--seccomp-bpf", "-qq", "-y", "-s", "0", "-e", calls, "-o", &output]
        .map(str::to_owned)
        .into()
}

/// The calls in the output of strace.
pub(super) fn read(output: &Path) -> Option<FileCalls> {
    Some(count(&fs::read_to_string(output).ok()?))
}

fn count(trace: &str) -> FileCalls {
    let mut calls = FileCalls::default();
    for line in trace.lines() {
        // A call that another thread interrupts is named again as resumed, without a bracket.
        if line.contains(" fsync(") || line.contains(" fdatasync(") {
            calls.syncs += 1;
        } else if line.contains("-wal>") && line.contains(PAGE_HEADER) {
            calls.wal_pages += 1;
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_and_wal_pages_are_counted() {
        let trace = "\
71 pwrite64(12</d/a.db-wal>, \"\"..., 32, 0) = 32
71 pwrite64(12</d/a.db-wal>, \"\"..., 24, 32) = 24
71 pwrite64(12</d/a.db-wal>, \"\"..., 8192, 56) = 8192
71 pwrite64(11</d/a.db>, \"\"..., 4096, 8192) = 4096
71 fdatasync(12</d/a.db-wal> <unfinished ...>
72 fsync(13</d>) = 0
71 <... fdatasync resumed>) = 0
";
        assert_eq!(count(trace), FileCalls { syncs: 2, wal_pages: 1 });
    }
}
