//! What clients get of AI SDK streams. Expectations come from the AI SDK's types, from the report that a
//! converter announced one call by two paths, and, for recorded streams, from what the server played.

mod calls;
mod endings;
mod laws;
mod outputs;
mod reasoning;
mod recorded;
mod texts;
mod world;
