//! The access to the inspector.

use std::net::IpAddr;

with_defaults! {
    /// The inspector, which shows the conversations of a tenant on web pages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct InspectSettings {
        /// The listeners that serve it.
        pub access: Inspect = Inspect::Local,
        /// Whether its pages may change conversations and ask models.
        pub allows_writes: bool = false,
        /// Whether it shows the content of items.
        pub shows_bodies: bool = true,
    }
}

/// The listeners that serve the inspector. On each of them it needs the caller's key, if callers
/// have keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspect {
    /// None.
    Off,
    /// A listener on a loopback address. Pages of other origins are rejected.
    Local,
    /// Any listener.
    Keys,
}

impl Inspect {
    /// Whether a listener on this address serves the inspector.
    pub fn is_served_at(self, address: IpAddr) -> bool {
        match self {
            Self::Off => false,
            Self::Local => address.to_canonical().is_loopback(),
            Self::Keys => true,
        }
    }
}
