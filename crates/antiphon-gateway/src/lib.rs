//! antiphon-gateway
