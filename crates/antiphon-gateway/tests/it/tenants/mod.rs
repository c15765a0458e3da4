//! What belongs to another does not exist.

pub(crate) mod attempts;
pub(crate) mod belongings;
mod keys;
mod matrix;
mod observed;
mod own;
mod recording;
mod watched;
