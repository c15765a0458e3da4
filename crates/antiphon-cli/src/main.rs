//! antiphon
fn main() {}
