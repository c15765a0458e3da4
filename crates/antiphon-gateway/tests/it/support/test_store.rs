//! Where the gateways of a world keep conversations.

use antiphon_testkit::postgres::Server;
use tempfile::TempDir;

use super::database::Database;

/// The kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    /// SQLite.
    File,
    /// PostgreSQL.
    Database,
}

/// One store.
#[derive(Debug)]
pub(super) enum TestStore {
    File(TempDir),
    Database(Database),
}

impl TestStore {
    /// A new one, with nothing in it.
    pub(super) async fn new(kept: StoreKind) -> Self {
        match kept {
            StoreKind::File => Self::File(tempfile::tempdir().expect("a folder can be made")),
            StoreKind::Database => Self::Database(Database::shared().await),
        }
    }

    /// A database of a certain server.
    pub(super) async fn on(server: &Server) -> Self {
        Self::Database(Database::on(server).await)
    }

    /// What names it to a gateway.
    pub(super) fn url(&self) -> String {
        match self {
            Self::File(folder) => format!("sqlite:{}", folder.path().join("antiphon.db").display()),
            Self::Database(database) => database.store_url(),
        }
    }

    /// Everything that is kept is so much older.
    pub(super) async fn age_by_days(&self, days: i64) {
        let sql = |table: &str| {
            format!(
                "UPDATE {table} SET created_at = created_at - {days} * 86400,
                                    copy_until = copy_until - {days} * 86400"
            )
        };
        match self {
            Self::File(folder) => {
                let file = rusqlite::Connection::open(folder.path().join("antiphon.db"));
                let aged = file.and_then(|file| file.execute(&sql("segments"), []));
                aged.expect("the file can be written");
            }
            Self::Database(database) => drop(database.sql(&sql("segments")).await),
        }
    }

    /// The bytes of all files of the store, or of the items and copies in the database.
    pub(super) async fn stored_bytes(&self) -> Vec<u8> {
        const SQL: &str = "
            SELECT coalesce(encode(copy, 'escape'), '') || encode(items, 'escape') FROM segments";
        let folder = match self {
            Self::File(folder) => folder,
            Self::Database(database) => return database.sql(SQL).await.concat().into_bytes(),
        };
        let files = std::fs::read_dir(folder.path()).expect("the folder can be read");
        let files = files.map(|file| file.expect("the folder can be listed").path());
        files.flat_map(|file| std::fs::read(file).expect("the file can be read")).collect()
    }

    pub(super) fn database(&self) -> Option<&Database> {
        match self {
            Self::File(_) => None,
            Self::Database(database) => Some(database),
        }
    }
}
