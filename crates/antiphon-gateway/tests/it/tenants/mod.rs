//! What belongs to another does not exist.

mod attempts;
mod belongings;
mod foreign_ids;
mod keys;
mod matrix;
mod observed;
mod recording;
mod shared_account;
mod watched;
