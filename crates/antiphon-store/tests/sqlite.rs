//! SQLite, in a file and in memory, keeps the laws of a store.

#![allow(clippy::unwrap_used)] // Outside of `#[test]` functions too, everything here is a test.

mod conformance;
mod files;

use std::path::PathBuf;
use std::sync::Arc;

use antiphon_store::{SqliteStore, Store};
use async_trait::async_trait;
use conformance::{StoreLocation, World};
use tempfile::TempDir;

/// A file in a folder of its own, which goes with it.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("antiphon.db")
    }
}

#[async_trait]
impl StoreLocation for File {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(&self.path()).unwrap())
    }

    fn url(&self) -> Option<String> {
        Some(format!("sqlite:{}", self.path().display()))
    }
}

struct Memory;

#[async_trait]
impl StoreLocation for Memory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::in_memory().unwrap())
    }
}

async fn a_file() -> World {
    World::at(File::new()).await
}

async fn memory() -> World {
    World::at(Memory).await
}

mod in_a_file {
    use crate::conformance;

    conformance::suite!(crate::a_file);
    conformance::durable_suite!(crate::a_file);
}

mod in_memory {
    use crate::conformance;

    conformance::suite!(crate::memory);
}
