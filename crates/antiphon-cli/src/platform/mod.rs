//! The operating system's part: signals, permissions of files, and the process of an agent. Each
//! system has the same types and functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
