//! Stream parts of the AI SDK: of a model (`LanguageModelV2StreamPart` to `V4`) and of a
//! `fullStream` (`TextStreamPart`), as versions 5, 6 and 7 have them, and the result of a model that
//! does not stream (`doGenerate`).
//!
//! Source: the types of `ai` and `@ai-sdk/provider`. Both kinds of stream are understood part by part;
//! that a stream is a `fullStream` is known by `start` and `start-step`.
//!
//! | parts | become |
//! |---|---|
//! | `text-*` | a message for each id; the annotations that `text-end` has |
//! | `reasoning-*` | reasoning for each id; the summary parts of one item of OpenAI's are one item again |
//! | `tool-input-*`, `tool-call` | one call for each id: `id` of the former is `toolCallId` of the latter |
//! | `tool-result`, `tool-error`, `tool-output-denied` | the output of the call |
//! | the same, of a tool that the provider runs | extension items `ai-sdk:tool-call`, `ai-sdk:tool-result`, `ai-sdk:tool-error` |
//! | `file`, `source`, `custom`, `reasoning-file`, `tool-approval-request`, `tool-approval-response` | extension items `ai-sdk:<type>` that hold the part |
//! | `finish`, `error`, `abort` | the end of the response |
//!
//! Calls that the provider runs are no `function_call` items, since clients run every one of those.
//! Warnings, `raw` and `ping` say nothing of the answer. All steps of a `fullStream` are one response.

mod call;
mod calls;
mod ending;
mod failure;
mod input;
mod metadata;
mod part;
mod reasoning;
mod seal;
mod stream;
mod teller;
mod texts;
mod tool;
mod usage;

#[cfg(test)]
mod tests;

pub(super) use stream::Stream;
