//! Counts the synced writes of a server, with strace.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// strace, if it is installed.
pub(super) fn program() -> Option<PathBuf> {
    let search_path = env::var_os("PATH")?;
    let mut candidates = env::split_paths(&search_path).map(|folder| folder.join("strace"));
    candidates.find(|program| program.is_file())
}

/// The arguments of strace before the traced program.
pub(super) fn arguments(output: &Path) -> Vec<String> {
    let calls = "trace=fsync,fdatasync";
    let output = output.display().to_string();
    ["-f", "--seccomp-bpf", "-qq", "-e", calls, "-o", &output].map(str::to_owned).into()
}

/// The number of calls in the output of strace.
pub(super) fn read(output: &Path) -> Option<u64> {
    Some(count(&fs::read_to_string(output).ok()?))
}

/// A call that another thread interrupts is named again as resumed, without a bracket.
fn count(trace: &str) -> u64 {
    let is_sync = |line: &&str| line.contains(" fsync(") || line.contains(" fdatasync(");
    trace.lines().filter(is_sync).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumed_call_is_counted_once() {
        let trace = "\
71 fdatasync(12 <unfinished ...>
72 fsync(13)        = 0
71 <... fdatasync resumed>) = 0
";
        assert_eq!(count(trace), 2);
    }
}
