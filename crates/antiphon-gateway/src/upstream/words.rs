//! Splits texts into words, and lists the words of providers' errors.

/// The words of a text in lower case. A JSON escape counts as the character that it encodes, at any
/// level of escaping. All other characters that are not letters or digits separate words.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    normalized(text)
        .split(' ')
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
        .filter(|it| !it.is_empty())
}

/// The same words, separated by one space.
pub(super) fn normalized(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => push(&mut normal, unescaped(&mut rest)),
            other => push(&mut normal, other),
        }
    }
    normal
}

fn push(normal: &mut String, next: char) {
    if next.is_alphanumeric() {
        normal.extend(next.to_lowercase());
    } else if !normal.ends_with(' ') {
        normal.push(' ');
    }
}

/// Decodes the JSON escape after any number of backslashes. Half of a surrogate pair separates
/// words.
fn unescaped(rest: &mut std::str::Chars<'_>) -> char {
    let after = rest.as_str().trim_start_matches('\\');
    *rest = after.chars();
    let Some(escape) = rest.next() else { return ' ' };
    if escape != 'u' {
        return if "bfnrt".contains(escape) { ' ' } else { escape };
    }
    let digits = after.get(1..5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(code) = digits else { return ' ' };
    *rest = after[5..].chars();
    char::from_u32(code).unwrap_or(' ')
}

/// The words of providers' errors and the names of the API's fields, sorted.
#[rustfmt::skip]
pub(super) const KNOWN_WORDS: &[&str] = &[
    "a", "about", "above", "absent", "accepted", "access", "account", "action", "active", "after",
    "again", "all", "allowed", "already", "also", "an", "and", "another", "answer", "any", "api",
    "are", "argument", "arguments", "array", "arrays", "as", "ask", "assistant", "at", "attempt",
    "audio", "authentication", "authorization", "available", "await", "back", "background", "bad",
    "balance", "base64", "be", "because", "been", "before", "begin", "below", "between", "bias",
    "billing", "body", "boolean", "both", "bound", "break", "busy", "but", "by", "byte", "bytes",
    "call", "called", "calls", "can", "cannot", "capacity", "change", "changed", "characters",
    "chat", "check", "choice", "choices", "client", "code", "combination", "compaction",
    "complete", "completed", "completion", "completions", "config", "configured", "connection",
    "contact", "contain", "contains", "content", "context", "conv", "conversation",
    "conversations", "correct", "corresponding", "could", "count", "create", "created", "credit",
    "credits", "currently", "data", "deactivated", "deadline", "default", "delta", "denied",
    "deployment", "deprecated", "description", "details", "developer", "did", "different",
    "dimension", "dimensions", "disabled", "do", "document", "documentation", "documents", "does",
    "duplicate", "during", "each", "effort", "either", "empty", "enabled", "encrypted", "end",
    "endpoint", "engine", "enough", "error", "errors", "exceed", "exceeded", "exceeds", "exist",
    "exists", "expected", "expired", "fail", "failed", "failure", "fc", "feature", "fetch",
    "field", "fields", "file", "files", "filter", "first", "followed", "following", "for",
    "forbidden", "format", "found", "free", "frequency", "from", "function", "functions",
    "gateway", "generate", "generation", "get", "given", "got", "had", "has", "have", "header",
    "headers", "help", "here", "history", "host", "how", "id", "ids", "if", "ignored", "image",
    "images", "immediately", "in", "include", "incomplete", "incorrect", "index", "inference",
    "input", "inputs", "instead", "instructions", "insufficient", "integer", "internal", "into",
    "invalid", "is", "issue", "it", "item", "items", "its", "json", "key", "keys", "known",
    "large", "last", "least", "length", "less", "likely", "limit", "limited", "limits", "list",
    "loaded", "loading", "locked", "logit", "logprobs", "long", "longer", "malformed", "many",
    "match", "max", "maximum", "may", "media", "memory", "message", "messages", "metadata",
    "method", "minimum", "minute", "missing", "modalities", "modality", "model", "models",
    "modify", "month", "more", "most", "msg", "multiple", "must", "n", "name", "named", "names",
    "need", "no", "none", "not", "null", "number", "object", "objects", "of", "on", "once", "one",
    "only", "operation", "or", "order", "organization", "other", "our", "out", "output",
    "outputs", "over", "overloaded", "page", "parallel", "parameter", "parameters", "parse",
    "part", "parts", "path", "payload", "penalty", "pending", "per", "permission", "permissions",
    "permitted", "please", "policy", "position", "possible", "presence", "previous", "process",
    "processing", "project", "prompt", "properties", "property", "provide", "provided",
    "provider", "query", "quota", "rate", "reached", "read", "reason", "reasoning", "received",
    "refused", "region", "rejected", "remove", "repeated", "request", "requested", "requests",
    "require", "required", "requires", "resource", "resp", "response", "responses", "result",
    "results", "retry", "role", "roles", "rs", "run", "running", "safety", "same", "schema",
    "second", "seconds", "see", "seed", "server", "service", "set", "should", "since", "size",
    "sorry", "sort", "specified", "start", "state", "status", "stop", "stopped", "store",
    "stored", "stream", "streaming", "strict", "string", "strings", "structured", "such",
    "summary", "support", "supported", "supports", "system", "temperature", "temporarily",
    "temporary", "text", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "thinking", "this", "those", "through", "time", "timed", "timeout", "times", "to", "token",
    "tokens", "too", "tool", "tools", "top", "total", "truncation", "try", "turn", "turns", "two",
    "type", "types", "unable", "unauthorized", "unavailable", "unexpected", "unknown", "unless",
    "unrecognized", "unsupported", "until", "up", "upgrade", "upstream", "url", "usage", "use",
    "used", "user", "users", "using", "valid", "validation", "value", "values", "verbosity",
    "version", "via", "wait", "was", "we", "week", "were", "what", "when", "where", "which",
    "while", "will", "window", "with", "within", "without", "word", "words", "yet", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn escapes_are_decoded_at_any_depth() {
        assert_eq!(normalized(r"J\u0061ne\nDoe \\\\u0041b"), "jane doe ab");
        assert_eq!(normalized(r#"{"a-b": 1}"#), " a b 1 ");
        assert_eq!(normalized("\\u12"), " 12");
    }
}
