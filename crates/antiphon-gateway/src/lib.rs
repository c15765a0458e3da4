//! A gateway that any client of the OpenAI Responses API can point its base URL at.

pub mod settings;
