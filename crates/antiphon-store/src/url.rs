//! Opens stores by URL.

use std::path::Path;
use std::sync::Arc;

use crate::description::StoreDescription;
use crate::error::StoreError;
use crate::listings::Listings;
use crate::postgres::{self, PostgresSnapshot, PostgresStore};
use crate::snapshot::{Snapshot, StoreState};
use crate::sqlite::{self, SqliteListings, SqliteSnapshot, SqliteStore};
use crate::store::Store;

/// The reason why a store could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL has no known form.
    #[error("the store must be sqlite:PATH, sqlite::memory: or postgres://USER@HOST/DATABASE")]
    UnknownForm,
    /// A part of the PostgreSQL URL is invalid or not supported.
    #[error("{0}")]
    PostgresUrl(String),
    /// The store itself failed to open.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens the store that `url` names: `sqlite:PATH` for a file, `sqlite::memory:` for a store that
/// exists only in memory, or `postgres://USER:PASSWORD@HOST/DATABASE`. No error repeats the URL.
///
/// A PostgreSQL URL accepts libpq's parameters (`sslmode`, `sslrootcert`, `connect_timeout`,
/// `options`, ...), and `pool_max`: the number of connections for calls, 16 by default.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    Ok(match Form::parse(url)? {
        Form::Memory => Arc::new(blocking(SqliteStore::in_memory).await?),
        Form::File(path) => Arc::new(blocking(move || SqliteStore::open(Path::new(&path))).await?),
        Form::Postgres => Arc::new(PostgresStore::open(url).await?),
    })
}

/// Takes a snapshot of the store that `url` names, even while other processes have it open. Creates
/// and migrates nothing: a store of another version is rejected.
pub async fn snapshot(url: &str) -> Result<Box<dyn Snapshot>, OpenError> {
    Ok(match Form::parse(url)? {
        Form::Memory => return Err(memory_is_private()),
        Form::File(path) => {
            Box::new(blocking(move || SqliteSnapshot::take(Path::new(&path))).await?)
        }
        Form::Postgres => Box::new(PostgresSnapshot::take(url).await?),
    })
}

/// Takes a snapshot, as [`snapshot`] does, that lists the newest data first.
pub async fn listings(url: &str) -> Result<Box<dyn Listings>, OpenError> {
    Ok(match Form::parse(url)? {
        Form::Memory => return Err(memory_is_private()),
        Form::File(path) => {
            let snapshot = blocking(move || SqliteSnapshot::take(Path::new(&path))).await?;
            Box::new(SqliteListings::new(snapshot))
        }
        Form::Postgres => Box::new(PostgresSnapshot::take(url).await?),
    })
}

fn memory_is_private() -> OpenError {
    StoreError::Unavailable("sqlite::memory: is private to its process".to_owned()).into()
}

/// Inspects the store that `url` names, even while other processes have it open. Creates and
/// migrates nothing.
///
/// # Errors
/// Fails if a gateway could not start on this store.
pub async fn inspect(url: &str) -> Result<StoreState, OpenError> {
    Ok(match Form::parse(url)? {
        Form::Memory => StoreState::Absent,
        Form::File(path) => blocking(move || sqlite::inspect(Path::new(&path))).await?,
        Form::Postgres => postgres::inspect(url).await?,
    })
}

/// Describes the store that `url` names, even while other processes have it open. Creates and
/// migrates nothing.
///
/// # Errors
/// Fails if the store cannot be read. A store that this release cannot use has a description.
pub async fn describe(url: &str) -> Result<StoreDescription, OpenError> {
    Ok(match Form::parse(url)? {
        Form::Memory => sqlite::describe_memory(),
        Form::File(path) => blocking(move || sqlite::describe_file(Path::new(&path))).await?,
        Form::Postgres => postgres::describe_database(url).await?,
    })
}

/// Checks the form of `url`, without opening the store.
pub fn check(url: &str) -> Result<(), OpenError> {
    Form::parse(url).map(drop)
}

async fn blocking<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let opened = tokio::task::spawn_blocking(open).await;
    opened.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    Memory,
    File(String),
    Postgres,
}

impl Form {
    /// Rejects `sqlite://…`: other programs disagree on whether its path is absolute or relative.
    fn parse(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() && !path.starts_with("//") => {
                Ok(Self::File(path.to_owned()))
            }
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                let checked = PostgresStore::check(url).map(|()| Self::Postgres);
                checked.map_err(OpenError::PostgresUrl)
            }
            _ => Err(OpenError::UnknownForm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_url_names_a_path() {
        let file = |path: &str| Ok(Form::File(path.into()));
        assert_eq!(Form::parse("sqlite:antiphon.db"), file("antiphon.db"));
        assert_eq!(Form::parse("sqlite:/var/lib/a:b.db"), file("/var/lib/a:b.db"));
        assert_eq!(Form::parse("sqlite::memory:"), Ok(Form::Memory));
    }

    #[test]
    fn unknown_url_form_is_rejected_with_the_forms() {
        for url in ["", "antiphon.db", "sqlite:", "sqlite://a.db", "redis://localhost"] {
            let refusal = Form::parse(url).unwrap_err();
            assert_eq!(refusal, OpenError::UnknownForm, "{url}");
            assert!(refusal.to_string().contains("sqlite:PATH"));
        }
    }

    #[test]
    fn postgres_url_is_accepted() {
        for url in ["postgres://localhost/a", "postgresql://alice@localhost:5433/a?pool_max=2"] {
            assert_eq!(Form::parse(url), Ok(Form::Postgres));
        }
        assert_eq!(Form::parse("postgres:localhost"), Err(OpenError::UnknownForm));
        let refusal = Form::parse("postgres://localhost/a?pool_max=none").unwrap_err();
        assert_eq!(refusal.to_string(), "pool_max is a number of connections from 1 to 1000");
    }

    #[tokio::test]
    async fn unreachable_database_error_hides_the_password() {
        let Err(error) = open("postgres://alice:s3cret@127.0.0.1:1/a").await else {
            panic!("nothing listens on port 1");
        };
        let text = error.to_string();
        assert!(text.contains("cannot be reached") && !text.contains("s3cret"), "{text}");
    }

    #[tokio::test]
    async fn unopenable_file_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("antiphon.db");
        let Err(error) = open(&format!("sqlite:{}", path.display())).await else {
            panic!("the folder does not exist");
        };
        assert!(error.to_string().contains("missing"), "{error}");
    }
}
