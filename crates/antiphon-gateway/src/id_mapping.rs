//! Translates between Antiphon's id of a conversation and the upstream's id.

use antiphon::json::Object;
use bytes::Bytes;
use memchr::memmem;

use crate::error::ApiError;
use crate::request::{Continues, CreateRequest};

/// The two ids of one conversation.
///
/// Requests are translated inward ([`request`](Self::request), [`path`](Self::path),
/// [`fields`](Self::fields)), and answers outward ([`answer`](Self::answer)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdMapping {
    /// The id that callers use.
    pub(crate) gateway: String,
    /// The upstream's id.
    pub(crate) upstream: String,
}

/// Translation of requests.
impl IdMapping {
    /// The request with the upstream's conversation id.
    pub(crate) fn request(&self, request: &CreateRequest) -> CreateRequest {
        let mut fields = request.object();
        self.fields(&mut fields);
        let (fields, continues) =
            (fields.to_text(), Continues::Conversation(self.upstream.clone()));
        CreateRequest { fields, continues, ..request.clone() }
    }

    /// Sets the upstream's conversation id in the fields of a request.
    pub(crate) fn fields(&self, fields: &mut Object<'_>) {
        fields.set_string("conversation", &self.upstream);
    }

    /// The path `/conversations/{id}/…` with the upstream's id.
    pub(crate) fn path(&self, path: &str) -> String {
        let mut segments: Vec<&str> = path.split('/').collect();
        if let ["", "conversations", id, ..] = segments.as_mut_slice() {
            *id = &self.upstream;
        }
        segments.join("/")
    }
}

/// Translation of answers.
impl IdMapping {
    /// Replaces all occurrences of the upstream's id by Antiphon's id.
    pub(crate) fn answer(&self, bytes: &Bytes) -> Bytes {
        self.piece(bytes, [None, None])
    }

    /// Translates a part of an answer, given the bytes just before and after it.
    fn piece(&self, bytes: &Bytes, [before_all, after_all]: [Option<u8>; 2]) -> Bytes {
        let upstream = self.upstream.as_bytes();
        let is_whole_id = |at: &usize| {
            let before = at.checked_sub(1).map_or(before_all, |before| Some(bytes[before]));
            let after = bytes.get(at + upstream.len()).copied().or(after_all);
            !before.is_some_and(is_id_byte) && !after.is_some_and(is_id_byte)
        };
        let found: Vec<usize> = memmem::find_iter(bytes, upstream).filter(is_whole_id).collect();
        if found.is_empty() {
            return bytes.clone();
        }
        let mut translated = Vec::with_capacity(bytes.len() + found.len() * self.gateway.len());
        let mut copied = 0;
        for at in found {
            translated.extend_from_slice(&bytes[copied..at]);
            translated.extend_from_slice(self.gateway.as_bytes());
            copied = at + upstream.len();
        }
        translated.extend_from_slice(&bytes[copied..]);
        translated.into()
    }

    /// Translates a text of an answer.
    pub(crate) fn text(&self, text: String) -> String {
        let translated = self.answer(&Bytes::from(text));
        String::from_utf8(translated.into()).expect("a part of a text gave way to a text")
    }

    /// Translates the ids in an error.
    pub(crate) fn error(&self, error: ApiError) -> ApiError {
        match error {
            ApiError::Upstream(mut refused) => {
                refused.body = self.answer(&refused.body);
                ApiError::Upstream(refused)
            }
            error => {
                let message = self.text(error.to_string());
                ApiError::Translated { error: Box::new(error), message }
            }
        }
    }
}

/// Whether an id may contain this byte.
fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Translates an answer that arrives in pieces.
pub(crate) struct AnswerTranslation {
    mapping: IdMapping,
    /// The last bytes, which may be the start of an id.
    held: Vec<u8>,
    /// The byte before `held`.
    before: Option<u8>,
}

impl AnswerTranslation {
    pub(crate) fn new(mapping: IdMapping) -> Self {
        Self { mapping, held: Vec::new(), before: None }
    }

    /// Adds a piece, and returns the bytes that are complete.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Bytes {
        self.held.extend_from_slice(piece);
        let partial = self.partial_id_length();
        let rest = self.held.split_off(self.held.len() - partial);
        let whole = std::mem::replace(&mut self.held, rest);
        self.translated(whole)
    }

    /// Returns the remaining bytes at the end of the answer.
    pub(crate) fn finish(&mut self) -> Bytes {
        let rest = std::mem::take(&mut self.held);
        self.translated(rest)
    }

    fn translated(&mut self, bytes: Vec<u8>) -> Bytes {
        let around = [self.before, self.held.first().copied()];
        self.before = bytes.last().copied().or(self.before);
        self.mapping.piece(&bytes.into(), around)
    }

    /// The number of last bytes that may be the start of an id.
    fn partial_id_length(&self) -> usize {
        let upstream = self.mapping.upstream.as_bytes();
        let longest = upstream.len().min(self.held.len());
        let ends_with_start = |length: &usize| self.held.ends_with(&upstream[..*length]);
        (1..=longest).rev().find(ends_with_start).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping() -> IdMapping {
        IdMapping { gateway: "conv_ours".into(), upstream: "conv_7".into() }
    }

    #[test]
    fn answer_contains_only_the_gateway_id() {
        let original = br#"{"id":"conv_7","error":"No 'conv_7'.","other":["conv_77","xconv_7"]}"#;
        let translated = mapping().answer(&Bytes::from_static(original));
        let expected =
            br#"{"id":"conv_ours","error":"No 'conv_ours'.","other":["conv_77","xconv_7"]}"#;
        assert_eq!(&*translated, expected);
    }

    #[test]
    fn pieces_are_translated_at_any_cut() {
        let original =
            br#"data: {"conversation":{"id":"conv_7"},"x":"conv_conv_7 conv_7conv_ conv_7"}"#;
        let whole = mapping().answer(&Bytes::from_static(original));
        for cut in 0..=original.len() {
            let mut translation = AnswerTranslation::new(mapping());
            let mut translated = translation.push(&original[..cut]).to_vec();
            translated.extend(translation.push(&original[cut..]));
            translated.extend(translation.finish());
            assert_eq!(translated, whole, "cut at {cut}");
        }
    }

    #[test]
    fn end_of_event_is_not_held_back() {
        let event = b"data: {\"id\":\"conv_7\"}\n\n";
        let translated = AnswerTranslation::new(mapping()).push(event);
        assert_eq!(&*translated, b"data: {\"id\":\"conv_ours\"}\n\n");
    }

    #[test]
    fn path_contains_the_upstream_id() {
        assert_eq!(mapping().path("/conversations/conv%5Fours"), "/conversations/conv_7");
        let items = mapping().path("/conversations/conv_ours/items/msg_1?after=x/y");
        assert_eq!(items, "/conversations/conv_7/items/msg_1?after=x/y");
        assert_eq!(mapping().path("/responses/resp_1"), "/responses/resp_1");
    }
}
