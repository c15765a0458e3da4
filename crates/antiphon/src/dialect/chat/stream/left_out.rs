//! What of an answer was left out.

use crate::stream::Assembler;

/// How many kinds are noted. There are no more in the field; a server that invents keys is not
/// followed.
const MAX_KINDS: usize = 32;

/// What a response cannot carry, each kind noted once.
#[derive(Default)]
pub(super) struct LeftOut {
    kinds: Vec<(&'static str, String)>,
}

impl LeftOut {
    /// Something of this kind, named `name` by its server, was left out.
    pub(super) fn note(&mut self, kind: &'static str, name: &str, assembler: &mut Assembler) {
        let is_noted = self.kinds.iter().any(|(noted, of)| *noted == kind && of == name);
        if is_noted || self.kinds.len() == MAX_KINDS {
            return;
        }
        self.kinds.push((kind, name.to_owned()));
        match name {
            "" => assembler.leave_out(kind),
            name => assembler.leave_out(format!("{kind} '{name}'")),
        }
    }
}

/// Whether a raw value says nothing, so that nothing is lost with it.
pub(super) fn is_empty(raw: &str) -> bool {
    matches!(raw, "null" | "false" | r#""""# | "[]" | "{}")
}
