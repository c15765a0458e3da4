//! Parts of error texts.

use std::fmt;

/// The name of a numeric type in the provider's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberSort {
    Decimal,
    Integer,
}

/// The owner of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaHolder {
    Tenant,
    Conversation,
}

/// A sentence after the text of an unknown id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    None,
    /// The id has the form of a provider's ids, and no upstream owns state.
    StateUpstream,
}

impl fmt::Display for NumberSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decimal => "decimal",
            Self::Integer => "integer",
        })
    }
}

impl fmt::Display for QuotaHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tenant => "tenant",
            Self::Conversation => "conversation",
        })
    }
}

impl QuotaHolder {
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Tenant => "max-tenant",
            Self::Conversation => "max-conversation",
        }
    }

    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::Tenant => "Delete items, or conversations together with their responses",
            Self::Conversation => "Delete items of the conversation, or begin a new one",
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::StateUpstream => {
                " Antiphon keeps the state here, and this id has the form of the provider's ids; \
                 to use conversations and responses that the provider stores, start the gateway \
                 with --state upstream."
            }
        })
    }
}

/// A list of values in a sentence: `'a' and 'b'`, `'a', 'b', and 'c'`.
pub(super) struct Listed<'a>(pub(super) &'a [&'a str]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [one] => write!(f, "'{one}'"),
            [one, two] => write!(f, "'{one}' and '{two}'"),
            [most @ .., last] => write!(f, "'{}', and '{last}'", most.join("', '")),
        }
    }
}

/// A number of bytes, in mebibytes from one mebibyte on.
pub(super) struct Size(pub(super) usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 >> 20 {
            0 => write!(f, "{} bytes", self.0),
            mebibytes => write!(f, "{mebibytes} MiB"),
        }
    }
}
