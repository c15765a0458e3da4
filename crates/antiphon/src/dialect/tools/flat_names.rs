//! The names of namespaced tools in an API without namespaces.

use std::collections::{HashMap, HashSet};

use siphasher::sip::SipHasher13;

/// The limit of OpenAI and Anthropic for the name of a tool.
const MAX_LENGTH: usize = 64;

/// The length of the end that makes a name unique: `_` and the digits of a hash.
const END_LENGTH: usize = 9;

/// The text between a namespace and a name.
const SEPARATOR: &str = "__";

/// The name of a tool in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dialect) struct NamespacedName {
    pub(in crate::dialect) namespace: String,
    pub(in crate::dialect) name: String,
}

/// The names of namespaced tools, by their flat names.
///
/// A flat name is `namespace__name`. If that is too long, has other characters than letters,
/// digits, `_` and `-`, or belongs to another tool, it is shortened and ends with a hash of both
/// parts. So the flat name of a tool stays the same while other tools come and go, as prompt caches
/// need it.
#[derive(Clone, Debug, Default)]
pub(in crate::dialect) struct FlatNames {
    by_flat: HashMap<String, NamespacedName>,
}

impl FlatNames {
    /// The flat name of a tool of the request. `taken` are the names outside of namespaces.
    pub(super) fn declare(
        &mut self,
        namespace: &str,
        name: &str,
        taken: &HashSet<String>,
    ) -> String {
        let own = NamespacedName { namespace: namespace.to_owned(), name: name.to_owned() };
        let plain = plain_name(namespace, name).filter(|plain| {
            !taken.contains(plain) && self.by_flat.get(plain).is_none_or(|other| *other == own)
        });
        let flat = plain.unwrap_or_else(|| hashed_name(namespace, name));
        self.by_flat.insert(flat.clone(), own);
        flat
    }

    /// The flat name of a tool, which the request need not declare: a call stays in the history
    /// longer than its tool.
    pub(in crate::dialect) fn flatten(&self, namespace: &str, name: &str) -> String {
        let hashed = || hashed_name(namespace, name);
        let Some(plain) = plain_name(namespace, name) else { return hashed() };
        let is_declared = |flat: &str| {
            self.by_flat.get(flat).is_some_and(|it| it.namespace == namespace && it.name == name)
        };
        if is_declared(&plain) {
            return plain;
        }
        Some(hashed()).filter(|hashed| is_declared(hashed)).unwrap_or(plain)
    }

    /// The tool with this flat name.
    pub(in crate::dialect) fn find(&self, flat: &str) -> Option<&NamespacedName> {
        self.by_flat.get(flat)
    }

    /// The flat name of the only tool with this name in any namespace.
    pub(super) fn only_one_named(&self, name: &str) -> Option<&str> {
        let mut named = self.by_flat.iter().filter(|(_, tool)| tool.name == name);
        let (flat, _) = named.next()?;
        named.next().is_none().then_some(flat)
    }
}

/// `namespace__name`; `None` if no API accepts it.
fn plain_name(namespace: &str, name: &str) -> Option<String> {
    let joined = join(namespace, name);
    (joined.len() <= MAX_LENGTH && joined.chars().all(is_valid)).then_some(joined)
}

/// The beginning of `namespace__name`, and a hash of both.
fn hashed_name(namespace: &str, name: &str) -> String {
    let hash = SipHasher13::new().hash(format!("{namespace}\0{name}").as_bytes());
    let joined = join(namespace, name);
    let stem = joined.chars().map(|letter| if is_valid(letter) { letter } else { '_' });
    let stem: String = stem.take(MAX_LENGTH - END_LENGTH).collect();
    // Eight digits are 32 bits.
    format!("{stem}_{:08x}", hash & 0xffff_ffff)
}

/// Names of namespaces can end with the separator: `mcp__server__`.
fn join(namespace: &str, name: &str) -> String {
    let separator = if namespace.ends_with(SEPARATOR) { "" } else { SEPARATOR };
    format!("{namespace}{separator}{name}")
}

fn is_valid(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}
