//! Decodes stream parts of the AI SDK: those of a model (`LanguageModelV2StreamPart` to `V4`) and
//! of a `fullStream` (`TextStreamPart`), in versions 5, 6 and 7, and the result of a model that
//! does not stream (`doGenerate`).
//!
//! Source: the types of `ai` and `@ai-sdk/provider`. Both kinds of stream are decoded part by part.
//! A `start` or `start-step` identifies a `fullStream`.
//!
//! | parts | output |
//! |---|---|
//! | `text-*` | a message for each id, with the annotations of `text-end` |
//! | `reasoning-*` | reasoning for each id; the summary parts of an OpenAI item become one item |
//! | `tool-input-*`, `tool-call` | one call for each `id` or `toolCallId` |
//! | `tool-result`, `tool-error`, `tool-output-denied` | the output of the call |
//! | the same, of a tool that the provider runs | extension items for the call and its output |
//! | `file`, `source`, `custom`, `reasoning-file` | extension items with the part as content |
//! | `tool-approval-request`, `tool-approval-response` | extension items with the part as content |
//! | `finish`, `error`, `abort` | the end of the response |
//!
//! Extension items of a call are `ai-sdk:tool-call`, `ai-sdk:tool-result` and `ai-sdk:tool-error`.
//! Any other is `ai-sdk:<type>`, named by the type of the part.
//!
//! A call that the provider runs does not become a `function_call` item, because clients run every
//! such call. Warnings, `raw` and `ping` are ignored. All steps of a `fullStream` are one response.

mod call;
mod calls;
mod ending;
mod input;
mod item_emitter;
mod metadata;
mod part;
mod reasoning;
mod stream;
mod texts;
mod tool;

#[cfg(test)]
mod tests;

pub(super) use stream::Stream;
