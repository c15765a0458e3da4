use super::*;
use crate::settings::Secret;

const KEY: &str = "sk-of/the-gateway";

fn redactor(key: &str, mask: Mask) -> Redactor {
    Redactor::new(Arc::new(KeyPattern::new(&Secret::new(key)).unwrap()), mask)
}

/// The output for these pieces.
fn clean<'a>(mask: Mask, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut redactor = redactor(KEY, mask);
    let mut clean = Vec::new();
    for piece in pieces {
        clean.extend(redactor.push(Bytes::copy_from_slice(piece)));
    }
    clean.extend(redactor.finish().unwrap_or_default());
    String::from_utf8(clean).unwrap()
}

fn short(text: &str) -> String {
    clean(Mask::Short, [text.as_bytes()])
}

#[test]
fn every_spelling_of_the_key_is_removed() {
    let spellings = [
        "sk-of/the-gateway",
        r"sk\u002dof/the-gateway",
        r"sk\u002Dof\/the\u002dgateway",
        r"\u0073k-of\u002fthe-gateway",
        r"sk\\u002dof\\/the-gateway",
        r"sk\\\\u002dof/the-gateway",
        "sk%2dof%2Fthe-gateway",
        "%73%6b%2d%6f%66%2f%74%68%65%2d%67%61%74%65%77%61%79",
    ];
    for spelling in spellings {
        assert_eq!(short(&format!("no {spelling}. {spelling}")), "no ***. ***", "{spelling}");
    }
    let all: Vec<_> = KEY.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
    assert_eq!(short(&all.concat()), "***");
}

#[test]
fn removed_key_keeps_an_announced_length() {
    let text = r#"{"a":"sk-of/the-gateway sk\u002dof/the-gateway"}"#;
    let expected = r#"{"a":"***************** **********************"}"#;
    assert_eq!(clean(Mask::SameLength, [text.as_bytes()]), expected);
}

#[test]
fn key_is_found_across_pieces() {
    let text =
        br#"sk-sk-of/the-gateway, \\"\"sk\u002Dof\/the-gatewaysk-of%2fthe-gateway\n and sk-of\"#;
    let expected = r#"sk-***, \\"\"******\n and sk-of\"#;
    for first in 0..text.len() {
        for second in first..text.len() {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(clean(Mask::Short, pieces), expected, "cut at {first} and {second}");
        }
    }
}

#[test]
fn clean_bytes_pass_without_a_copy() {
    let mut redactor = redactor(KEY, Mask::Short);
    let event = Bytes::from_static(b"data: {\"delta\":\"as\\n\\u00e9 50% sk-o\"}\n\n");
    let passed = redactor.push(event.clone());
    assert_eq!((passed.as_ptr(), passed.len()), (event.as_ptr(), event.len()));
    assert_eq!(redactor.push(Bytes::from_static(b"data: sk-o")), &b"data: "[..]);
    assert_eq!(redactor.finish().as_deref(), Some(&b"sk-o"[..]));
}

#[test]
fn other_text_is_unchanged() {
    let texts = [
        "sk-of***way",
        "sk-of/the-gatewaz",
        r"sk\u002eof/the-gateway",
        r#"{"a":"sk-of/","b":"gateway","c":"s","d":"k"}"#,
        "key \u{fffd} is wrong",
        r"\\\\\\\\\\\\\\\\\\\\\\\u0073\",
    ];
    for text in texts {
        assert_eq!(short(text), text);
        assert_eq!(clean(Mask::Short, text.as_bytes().chunks(1)), text);
    }
}

#[test]
fn parts_in_consecutive_strings_are_removed() {
    let events = |parts: &[&str]| {
        let event = |part: &&str| format!("data: {{\"type\":\"x\",\"delta\":\"{part}\"}}\n\n");
        parts.iter().map(event).collect::<String>()
    };
    let cases: [(&[&str], &[&str]); 5] = [
        (&["a sk-of", "/the-gateway b"], &["a sk-of", "*** b"]),
        (&["sk", "-of/", "the", "-gate", "way."], &["sk", "-of/", "***", "***", "***."]),
        (&[r"sk\u002d", "", r"of\/the-gateway"], &[r"sk\u002d", "", "***"]),
        (&["sk-of/the-gatewa", "y"], &["***", "***"]),
        (&["sk-of", "/the end"], &["sk-of", "/the end"]),
    ];
    for (parts, expected) in cases {
        let (text, expected) = (events(parts), events(expected));
        assert_eq!(short(&text), expected);
        assert_eq!(clean(Mask::Short, text.as_bytes().chunks(7)), expected);
    }
}

#[test]
fn key_like_an_escape_leaves_json_valid() {
    let mut redactor = redactor("nkey-of-the-gateway", Mask::Short);
    let text = br#"{"a":"\nkey-of-the-gateway \\nkey-of-the-gateway"}"#;
    let clean = redactor.push(Bytes::from_static(text));
    assert_eq!(clean, &br#"{"a":"\n*** \\***"}"#[..]);
}

#[test]
fn placeholder_key_has_no_pattern() {
    for key in ["key", "lm-studio", "not-needed"] {
        assert!(KeyPattern::new(&Secret::new(key)).is_none(), "{key}");
    }
}

#[test]
fn key_is_found_in_a_header_value() {
    let pattern = KeyPattern::new(&Secret::new(KEY)).unwrap();
    assert!(pattern.is_in(b"https://host/?key=sk%2Dof/the-gateway"));
    assert!(!pattern.is_in(b"https://host/?key=sk-of***way"));
}
