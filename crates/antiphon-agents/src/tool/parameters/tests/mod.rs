//! Types as schemas and as arguments.

mod arguments;
mod laws;
mod schemas;
