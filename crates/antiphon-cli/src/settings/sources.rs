//! The sources of the settings of one configuration.

use std::path::PathBuf;

use super::file::File;

/// The sources of the settings. No text here contains a value.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The settings file, if one was read.
    pub(crate) file: Option<PathBuf>,
    /// Whether that file contains keys, secrets or a password.
    pub(crate) file_has_secrets: bool,
    /// The keys of the settings that are not at their defaults, and the place of each.
    pub(crate) settings: Vec<(&'static str, String)>,
}

impl Sources {
    /// The sources of the settings in `file`, which also has the settings that override it.
    pub(super) fn new(file: &File, file_has_secrets: bool) -> Self {
        let values = file.values.places().chain(file.prices.values.places());
        let tables = [("[[upstreams]]", &file.upstreams), ("[[webhooks]]", &file.webhooks)];
        let tables = tables.into_iter().flat_map(|(title, tables)| {
            tables.iter().map(move |table| (title, table.place().to_owned()))
        });
        let values = values.map(|(key, place)| (key, place.to_owned()));
        let settings = values.chain(tables).collect();
        Self { file: file.path.clone(), file_has_secrets, settings }
    }

    /// Whether the setting with this key is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|(given, _)| *given == key)
    }
}

/// Whether a file that nothing has overridden yet contains keys, secrets or a password.
pub(super) fn has_secrets(file: &File) -> bool {
    let has_key = ["upstream-key", "api-keys", "secrets", "metrics-key"]
        .iter()
        .any(|key| file.values.first(key).is_some());
    let has_password = file.values.first("store").is_some_and(|store| has_password(store.text()));
    let mut tables = file.upstreams.iter().chain(&file.webhooks);
    let has_table_key =
        tables.any(|table| ["key", "secret"].iter().any(|key| table.values.first(key).is_some()));
    has_key || has_password || has_table_key
}

/// Whether the user part of a URL has a password.
fn has_password(url: &str) -> bool {
    let user = url.split_once("//").and_then(|(_, rest)| rest.split_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret(text: &str) -> bool {
        has_secrets(&File::parse("antiphon.toml", text).unwrap())
    }

    #[test]
    fn file_with_a_key_or_a_password_has_secrets() {
        for text in [
            "upstream-key = 'a'",
            "api-keys = ['a=b']",
            "secrets = ['a']",
            "store = 'postgres://u:p@host/a'",
            "[[upstreams]]\nkey = 'a'",
            "[[webhooks]]\nsecret = 'a'",
        ] {
            assert!(is_secret(text), "{text}");
        }
    }

    #[test]
    fn file_that_names_variables_has_none() {
        for text in ["", "store = 'postgres://u@host/a'", "[[upstreams]]\nkey-env = 'A'"] {
            assert!(!is_secret(text), "{text}");
        }
    }
}
