//! Encrypted reasoning: always asked for, shown to those who ask, sent back to where it came from.

mod asking;
mod origin;
mod replay;
mod showing;
