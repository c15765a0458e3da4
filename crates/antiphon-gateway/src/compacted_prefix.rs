//! The text by which a model and the gateway recognize the summary of a compacted conversation.

/// What stands before a summary when a model is given it. A user's message, because every API takes
/// one at any place and every model answers to one, and because a summary of what tools and users
/// said has no more authority than they.
pub(crate) const INTRODUCTION: &str = "The conversation so far was compacted. Besides this message only the \
                            user's own messages were kept; what else was said and done is summed \
                            up here:\n\n";
