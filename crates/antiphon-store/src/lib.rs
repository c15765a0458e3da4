//! antiphon-store
