//! antiphon-testkit
