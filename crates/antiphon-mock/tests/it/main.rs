//! The strict provider over HTTP.

#![allow(clippy::needless_pass_by_value, reason = "a body is made where it is sent")]

mod aborts;
mod accounts;
mod background;
mod chains;
mod client;
mod compactions;
mod control;
mod conversations;
mod items;
mod kinds;
mod locks;
mod log;
mod pages;
mod profiles;
mod reasoning;
mod refusals;
mod script_files;
mod scripts;
mod shapes;
mod streams;
