//! A description of a store, for an operator.

use std::path::PathBuf;

/// The software and the files behind a store. [`describe`](crate::describe) returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreDescription {
    /// The database software and its version, such as `SQLite 3.51.1`.
    pub software: String,
    /// The version of its tables. `None` if there are no tables yet.
    pub tables: Option<usize>,
    /// The version of the tables that this release needs.
    pub latest_tables: usize,
    /// The free bytes of the file system. `None` for a database in memory or on a server.
    pub free_bytes: Option<u64>,
    /// The existing files that other users of the machine can access, with their modes.
    pub shared_files: Vec<(PathBuf, u32)>,
}
