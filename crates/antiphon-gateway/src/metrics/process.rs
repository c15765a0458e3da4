//! The process, under the names that all clients of Prometheus use.

use std::fs;
use std::sync::{Mutex, PoisonError};

use prometheus::{Counter, IntGauge};

use super::families::{Families, gauge, sum};
use crate::entropy::unix_now;

/// Linux reports processor time to programs in 1/100 seconds on every processor that Rust's
/// standard library supports. Source: `USER_HZ` in `include/asm-generic/param.h`.
const TICKS_PER_SECOND: f64 = 100.0;

/// The error of a process that may open no further file. Source: `EMFILE` in Linux's
/// `include/uapi/asm-generic/errno-base.h`.
const TOO_MANY_OPEN: i32 = 24;

/// The process. Systems other than Linux have only the start.
pub(super) struct ProcessMetrics {
    cpu_seconds: Counter,
    resident_bytes: IntGauge,
    virtual_bytes: IntGauge,
    threads: IntGauge,
    open_files: IntGauge,
    max_files: IntGauge,
    /// One update at a time, because it adds to a counter.
    updating: Mutex<()>,
}

impl ProcessMetrics {
    pub(super) fn new(to: &Families) -> Self {
        let start =
            gauge(to, "process_start_time_seconds", "When the gateway started, in Unix seconds.");
        start.set(unix_now());
        let memory = |name, help| gauge(to, name, help);
        let metrics = Self {
            cpu_seconds: sum(to, "process_cpu_seconds_total", "Processor time, user and system."),
            resident_bytes: memory("process_resident_memory_bytes", "Memory in use."),
            virtual_bytes: memory("process_virtual_memory_bytes", "Address space."),
            threads: gauge(to, "process_threads", "Threads of the process."),
            open_files: gauge(to, "process_open_fds", "Open files, connections included."),
            max_files: gauge(to, "process_max_fds", "The maximum number of open files."),
            updating: Mutex::default(),
        };
        metrics.update();
        metrics
    }

    /// Reads the current values. A value that cannot be read stays as it is.
    pub(super) fn update(&self) {
        let _one_at_a_time = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seconds) = read("stat").as_deref().and_then(cpu_seconds) {
            self.cpu_seconds.inc_by((seconds - self.cpu_seconds.get()).max(0.0));
        }
        let status = read("status").unwrap_or_default();
        let kilobytes = |key| field(&status, key).map(|count| count.saturating_mul(1024));
        let limits = read("limits").unwrap_or_default();
        for (gauge, value) in [
            (&self.resident_bytes, kilobytes("VmRSS:")),
            (&self.virtual_bytes, kilobytes("VmSize:")),
            (&self.threads, field(&status, "Threads:")),
            (&self.max_files, field(&limits, "Max open files")),
            (&self.open_files, self.count_open_files()),
        ] {
            if let Some(value) = value {
                gauge.set(value);
            }
        }
    }

    /// The number of open files. If there are so many that their list cannot be opened, that is the
    /// maximum.
    fn count_open_files(&self) -> Option<i64> {
        match fs::read_dir("/proc/self/fd") {
            // The list itself is one of them.
            Ok(files) => i64::try_from(files.count().saturating_sub(1)).ok(),
            Err(error) if error.raw_os_error() == Some(TOO_MANY_OPEN) => Some(self.max_files.get()),
            Err(_) => None,
        }
    }
}

fn read(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/self/{name}")).ok()
}

/// The user and system time in the text of `/proc/self/stat`: fields 14 and 15. The second field,
/// the program's name in parentheses, may contain spaces. Source: `proc_pid_stat(5)`.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: Vec<u32> =
        rest.split_ascii_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    let [user, system] = ticks[..] else { return None };
    Some((f64::from(user) + f64::from(system)) / TICKS_PER_SECOND)
}

/// The first number of the line that begins with `key`.
fn field(text: &str, key: &str) -> Option<i64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_any_name() {
        let stat = "7 (a) name)) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 99 1 1";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("7 (name) S 1"), None);
    }

    #[test]
    fn field_is_the_first_number_of_its_line() {
        let limits = "Limit  Soft Limit\nMax open files            1024  524288  files\n";
        assert_eq!(field(limits, "Max open files"), Some(1024));
        assert_eq!(field("VmRSS:\t  512 kB", "VmRSS:"), Some(512));
        assert_eq!(field("VmRSS:\t  512 kB", "Threads:"), None);
    }
}
