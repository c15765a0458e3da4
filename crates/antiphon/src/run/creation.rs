//! One conversation, though several write first at once.

/// One of those that write, by a number of their own choosing.
pub type Writer = u64;

/// What a writer does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn<Id> {
    /// It creates the conversation and tells how that went.
    Create,
    /// It waits to be called.
    Wait,
    /// It writes to this conversation.
    Use(Id),
}

/// The first write to a conversation that does not exist yet.
///
/// ```text
///          ask: create              created: all who wait use it
/// Absent -------------> Creating ---------------------------------> Created
///    ^                     |  ^ failed, somebody waits: they create
///    '- failed, nobody waits -'
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FirstWrite<Id> {
    /// Nobody has written.
    #[default]
    Absent,
    /// Somebody creates it.
    Creating {
        /// Who.
        by: Writer,
        /// Who came meanwhile, in order.
        waiting: Vec<Writer>,
    },
    /// It is there.
    Created(Id),
}

impl<Id: Clone> FirstWrite<Id> {
    /// A writer wants to write. Asking again while waiting changes nothing.
    pub fn ask(&mut self, writer: Writer) -> Turn<Id> {
        match self {
            Self::Absent => {
                *self = Self::Creating { by: writer, waiting: Vec::new() };
                Turn::Create
            }
            Self::Creating { by, .. } if *by == writer => Turn::Create,
            Self::Creating { waiting, .. } => {
                if !waiting.contains(&writer) {
                    waiting.push(writer);
                }
                Turn::Wait
            }
            Self::Created(id) => Turn::Use(id.clone()),
        }
    }

    /// The conversation was created. Returns who waited for it, in order: each asks again.
    pub fn created(&mut self, id: Id) -> Vec<Writer> {
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

    /// The writer that was to create it failed, or left. Returns who creates it now. Of those who
    /// only wait, it takes the writer out of the line.
    pub fn failed(&mut self, writer: Writer) -> Option<Writer> {
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
