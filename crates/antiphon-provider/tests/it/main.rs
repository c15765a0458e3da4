//! The strict provider over HTTP, as its callers meet it.

mod aborts;
mod accounts;
mod chains;
mod client;
mod control;
mod conversations;
mod items;
mod locks;
mod log;
mod pages;
mod reasoning;
mod refusals;
mod scripts;
mod shapes;
mod streams;
