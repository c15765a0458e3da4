//! Stores by their URL.

use std::path::Path;
use std::sync::Arc;

use crate::error::StoreError;
use crate::sqlite::SqliteStore;
use crate::store::Store;

/// Why no store was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// A PostgreSQL URL.
    #[error("PostgreSQL is not supported yet: use sqlite:PATH")]
    PostgresUnsupported,
    /// A URL of no known form.
    #[error("a store is named by sqlite:PATH or by sqlite::memory:")]
    UnknownForm,
    /// The store itself could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens the store that `url` names: `sqlite:PATH`, or `sqlite::memory:` for one that keeps
/// nothing.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    let form = Form::parse(url)?;
    let opening = tokio::task::spawn_blocking(move || match form {
        Form::Memory => SqliteStore::in_memory(),
        Form::File(path) => SqliteStore::open(Path::new(&path)),
    });
    let store = opening.await.map_err(|error| StoreError::Unavailable(error.to_string()))??;
    Ok(Arc::new(store))
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    Memory,
    File(String),
}

impl Form {
    /// `sqlite://…` is refused: elsewhere it names now a file from the root, now one from here.
    fn parse(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() && !path.starts_with("//") => {
                Ok(Self::File(path.to_owned()))
            }
            Some(("postgres" | "postgresql", _)) => Err(OpenError::PostgresUnsupported),
            _ => Err(OpenError::UnknownForm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path() {
        let file = |path: &str| Ok(Form::File(path.into()));
        assert_eq!(Form::parse("sqlite:antiphon.db"), file("antiphon.db"));
        assert_eq!(Form::parse("sqlite:/var/lib/a:b.db"), file("/var/lib/a:b.db"));
        assert_eq!(Form::parse("sqlite::memory:"), Ok(Form::Memory));
    }

    #[test]
    fn what_names_no_store_is_told_the_forms() {
        for url in ["", "antiphon.db", "sqlite:", "sqlite://a.db", "redis://localhost"] {
            let refusal = Form::parse(url).unwrap_err();
            assert_eq!(refusal, OpenError::UnknownForm, "{url}");
            assert!(refusal.to_string().contains("sqlite:PATH"));
        }
    }

    #[test]
    fn postgresql_is_said_to_be_unsupported() {
        for url in ["postgres://localhost/a", "postgresql://localhost/a"] {
            assert_eq!(Form::parse(url), Err(OpenError::PostgresUnsupported));
        }
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("antiphon.db");
        let Err(error) = open(&format!("sqlite:{}", path.display())).await else {
            panic!("the folder does not exist");
        };
        assert!(error.to_string().contains("missing"), "{error}");
    }
}
