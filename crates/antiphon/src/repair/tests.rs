//! Repair against the laws and the provider.
