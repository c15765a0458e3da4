//! Notes about the parts of an answer that are left out.

use crate::stream::Assembler;

/// The maximum of kinds to note. It exceeds the known kinds, and bounds the notes about a server
/// that invents field names.
const MAX_KINDS: usize = 32;

/// The parts that a response cannot carry. Each kind is noted once.
#[derive(Default)]
pub(super) struct LeftOut {
    kinds: Vec<(&'static str, String)>,
}

impl LeftOut {
    /// Notes that a part of this kind with this `name` is left out.
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

/// Whether a raw value is empty, so that leaving it out loses nothing.
pub(super) fn is_empty(raw: &str) -> bool {
    matches!(raw, "null" | "false" | r#""""# | "[]" | "{}")
}
