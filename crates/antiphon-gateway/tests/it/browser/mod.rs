//! Requests of web pages, as a browser sends them. `tests/browser/` has a real one.

mod content_types;
mod cors;
mod pages;
