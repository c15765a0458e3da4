//! Ids that depend only on the request.

use std::fmt::Write as _;

use ring::digest;

/// Derives every id of an answer from the bytes of the request's `input`, `instructions` and
/// `tools`. Equal requests give equal ids. The input grows with each turn, so the ids change from
/// turn to turn; those of two agents with one input differ, too.
#[derive(Debug)]
pub(super) struct Ids {
    seed: digest::Digest,
}

impl Ids {
    /// `parts` are the raw fields of the request; an absent one is empty.
    pub(super) fn from_parts(parts: [&str; 3]) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        Self { seed: context.finish() }
    }

    /// The id of the response.
    pub(super) fn response(&self) -> String {
        self.derive("resp_", 0, 48)
    }

    /// The id of the item at `output_index`.
    pub(super) fn item(&self, prefix: &str, output_index: usize) -> String {
        self.derive(prefix, output_index, 48)
    }

    /// The `call_id` of the call at `output_index`.
    pub(super) fn call(&self, output_index: usize) -> String {
        self.derive("call_", output_index, 24)
    }

    /// A placeholder for a provider's encrypted reasoning: opaque, and bound to its item.
    pub(super) fn encrypted_content(&self, output_index: usize) -> String {
        self.derive("sim_", output_index, 64)
    }

    fn derive(&self, prefix: &str, index: usize, hex_digits: usize) -> String {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(self.seed.as_ref());
        context.update(prefix.as_bytes());
        context.update(&(index as u64).to_be_bytes());
        let mut id = prefix.to_owned();
        for byte in &context.finish().as_ref()[..hex_digits / 2] {
            write!(id, "{byte:02x}").expect("writing to a String cannot fail");
        }
        id
    }
}
