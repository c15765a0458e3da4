//! Creates a conversation once, even if several writers make the first write at the same time.

/// The number of a writer, which the writer chooses.
pub type WriterId = u64;

/// The next action of a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriterAction<Id> {
    /// Create the conversation, then call [`FirstWrite::created`] or [`FirstWrite::failed`].
    Create,
    /// Wait for the result of the creation.
    Wait,
    /// Write to this conversation.
    Use(Id),
}

/// The first write to a conversation that does not exist yet.
///
/// ```text
///          ask: create              created: all waiting writers use it
/// Absent -------------> Creating ---------------------------------> Created
///    ^                     |  ^ failed, others wait: the first of them creates
///    '- failed, nobody waits -'
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FirstWrite<Id> {
    /// There was no write.
    #[default]
    Absent,
    /// A writer creates it.
    Creating {
        /// The writer that creates it.
        by: WriterId,
        /// The writers that asked in the meantime, in order.
        waiting: Vec<WriterId>,
    },
    /// It exists.
    Created(Id),
}

impl<Id: Clone> FirstWrite<Id> {
    /// Returns the next action of a writer. Repeated calls of a waiting writer change nothing.
    pub fn ask(&mut self, writer: WriterId) -> WriterAction<Id> {
        match self {
            Self::Absent => {
                *self = Self::Creating { by: writer, waiting: Vec::new() };
                WriterAction::Create
            }
            Self::Creating { by, .. } if *by == writer => WriterAction::Create,
            Self::Creating { waiting, .. } => {
                if !waiting.contains(&writer) {
                    waiting.push(writer);
                }
                WriterAction::Wait
            }
            Self::Created(id) => WriterAction::Use(id.clone()),
        }
    }

    /// Records that the conversation was created. Returns the waiting writers in order: each calls
    /// [`ask`](Self::ask) again.
    pub fn created(&mut self, id: Id) -> Vec<WriterId> {
        match self {
            Self::Created(_) => Vec::new(),
            Self::Absent => {
                *self = Self::Created(id);
                Vec::new()
            }
            Self::Creating { waiting, .. } => {
                let waiting = std::mem::take(waiting);
                *self = Self::Created(id);
                waiting
            }
        }
    }

    /// Records that a writer failed or left. If it was creating the conversation, returns the
    /// writer that creates it now. A waiting writer is removed from the queue.
    pub fn failed(&mut self, writer: WriterId) -> Option<WriterId> {
        let Self::Creating { by, waiting } = self else { return None };
        if *by != writer {
            waiting.retain(|waits| *waits != writer);
            return None;
        }
        if waiting.is_empty() {
            *self = Self::Absent;
            return None;
        }
        *by = waiting.remove(0);
        Some(*by)
    }
}
