//! The text by which a model and the gateway recognize the summary of a compacted conversation.

/// The introduction of a summary for a model. The summary is a user message: every API accepts one
/// at any position, every model answers it, and a summary of tool outputs and user messages must
/// not have more authority than they have.
pub(crate) const INTRODUCTION: &str = "The conversation so far was compacted. Besides this message \
                                       only the user's own messages were kept; what else was said \
                                       and done is summed up here:\n\n";
