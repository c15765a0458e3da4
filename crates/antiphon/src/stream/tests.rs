//! The codec and the assembler, from outside.
