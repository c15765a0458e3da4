//! The processor time, the memory and the written bytes of a process and its descendants.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// The usage of all live threads at one moment.
pub(crate) struct Usage {
    /// By thread: the time on a processor.
    threads: HashMap<u32, Duration>,
    /// By process: the bytes that it sent to the block device.
    written: HashMap<u32, u64>,
    /// The resident memory in bytes.
    pub(crate) resident: u64,
}

impl Usage {
    /// Measures the process and its descendants.
    pub(crate) fn of_process(id: u32) -> Self {
        let mut usage = Self { threads: HashMap::new(), written: HashMap::new(), resident: 0 };
        for process in with_descendants(id) {
            for thread in numbers_in(&format!("/proc/{process}/task")) {
                let time = processor_time(&format!("/proc/{process}/task/{thread}"));
                usage.threads.insert(thread, time.unwrap_or_default());
            }
            let field = |file, name| field(&format!("/proc/{process}/{file}"), name);
            usage.written.insert(process, field("io", "write_bytes:").unwrap_or(0));
            usage.resident += field("status", "VmRSS:").unwrap_or(0) * 1024;
        }
        usage
    }

    /// The processor time since an earlier measurement, user and system together. The last part of
    /// a thread that ended in between is missing.
    pub(crate) fn processor_time_since(&self, earlier: &Self) -> Duration {
        let since = |(thread, &time): (&u32, &Duration)| {
            time.saturating_sub(earlier.threads.get(thread).copied().unwrap_or_default())
        };
        self.threads.iter().map(since).sum()
    }

    /// The bytes that were sent to the block device since an earlier measurement.
    pub(crate) fn written_since(&self, earlier: &Self) -> u64 {
        let since = |(process, &bytes): (&u32, &u64)| {
            bytes.saturating_sub(earlier.written.get(process).copied().unwrap_or(0))
        };
        self.written.iter().map(since).sum()
    }
}

/// The scheduler counts nanoseconds. Without its statistics, the ticks in `stat` remain.
fn processor_time(task: &str) -> Option<Duration> {
    if let Ok(statistics) = fs::read_to_string(format!("{task}/schedstat")) {
        return statistics.split(' ').next()?.parse().ok().map(Duration::from_nanos);
    }
    let fields = stat(task)?;
    let ticks: u64 =
        fields.get(USER)?.parse::<u64>().ok()? + fields.get(SYSTEM)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The process and all processes that descend from it.
fn with_descendants(id: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = numbers_in("/proc")
        .filter_map(|process| {
            let parent = stat(&format!("/proc/{process}"))?.get(PARENT)?.parse().ok()?;
            Some((process, parent))
        })
        .collect();
    let mut found = vec![id];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, it)| *it == parent).map(|(child, _)| child));
        next += 1;
    }
    found
}

/// The places of fields after the program's name.
const PARENT: usize = 1;
const USER: usize = 11;
const SYSTEM: usize = 12;

/// The fields of `stat` after the program's name, which may contain spaces.
fn stat(task: &str) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("{task}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

fn numbers_in(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}
