//! The `antiphon` command as its users meet it: its exit codes, sentences and signals.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]
// They send signals, and limit the resources of a command with a shell.
#![cfg(unix)]

mod callers;
mod canned;
mod check;
mod check_and_provider;
mod completions;
mod conformance;
mod convert;
mod discretion;
mod disk;
mod doctor;
mod explain;
mod files;
mod foreign;
mod health;
mod help;
mod histories;
mod init;
mod inspect;
mod logs;
mod man;
mod mock;
mod no_effect;
mod precedence;
mod preflight;
mod refusals;
mod repair;
mod reported_cases;
mod run;
mod serving;
mod tenants;
mod tracing;
mod unread_output;
mod upstream_ca_file;
mod world;
