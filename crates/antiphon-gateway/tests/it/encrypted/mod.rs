//! Encrypted reasoning: always asked for, shown to those who ask, sent back to where it came from.

mod origin;
mod replay;
mod requesting;
mod showing;
