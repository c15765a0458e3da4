//! The value of `--policy`.

use antiphon::repair::Policy;
use antiphon_surface::CHOICES;

use crate::failure::Failure;

/// The selected repair.
#[derive(Debug, PartialEq)]
pub(super) enum Way {
    Policy(Policy),
    /// Drop orphaned reasoning and touch nothing else.
    OrphanedReasoning,
}

impl Way {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            Some("orphaned-reasoning") => Ok(Self::OrphanedReasoning),
            Some("") => Err(unknown("")),
            words => {
                let policy = antiphon_surface::policy(words.unwrap_or("repair"));
                policy.map(Self::Policy).map_err(|error| unknown(&error.word))
            }
        }
    }
}

fn unknown(word: &str) -> Failure {
    Failure::usage(format!(
        "--policy: '{word}' is unknown; the policies are repair, drop, reject, orphaned-reasoning, \
         or of {CHOICES} those that differ, separated by commas"
    ))
}
