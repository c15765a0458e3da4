//! Reconcile against what real clients send.
