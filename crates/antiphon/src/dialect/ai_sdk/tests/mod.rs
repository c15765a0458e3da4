//! Conversion of AI SDK streams. Expectations come from the AI SDK's types, from the report of a
//! converter that announced one call twice, and, for recorded streams, from the server's script.

mod calls;
mod endings;
mod laws;
mod outputs;
mod reasoning;
mod recorded;
mod texts;
mod world;
