//! What belongs to another does not exist.

mod attempts;
mod belongings;
mod keys;
mod matrix;
mod observed;
mod own;
mod recording;
mod shared_account;
mod watched;
