//! What is held, and what becomes of it.

mod chains;
mod conversation_header;
mod conversations;
mod deleted_in_use;
mod deleted_paths;
mod deletion;
mod ended_by_request;
mod expiry;
mod forks;
mod item_shape;
mod listing;
