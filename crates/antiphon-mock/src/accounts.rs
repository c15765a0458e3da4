//! The accounts of the provider.

use std::collections::BTreeMap;

use crate::account::Account;
use crate::ids::Ids;

/// The accounts of all tokens, and the source of their ids.
#[derive(Debug)]
pub(crate) struct Accounts {
    pub(crate) ids: Ids,
    by_token: BTreeMap<String, Account>,
}

impl Accounts {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { ids, by_token: BTreeMap::new() }
    }

    /// The account of a token. An account is created empty.
    pub(crate) fn account(&mut self, token: &str) -> (&mut Account, &mut Ids) {
        (self.by_token.entry(token.to_owned()).or_default(), &mut self.ids)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_token.values()
    }

    pub(crate) fn tokens(&self) -> impl Iterator<Item = &String> {
        self.by_token.keys()
    }
}
