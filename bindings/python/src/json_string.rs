//! Writes texts as JSON strings.

/// The number of bytes that are checked at once.
const CHUNK: usize = 32;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes `text` as a JSON string with the minimum of escapes.
pub(crate) fn write_quoted(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    loop {
        let (plain, tail) = rest.split_at(plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((&byte, tail)) = tail.split_first() else { break };
        write_escape(out, byte);
        rest = tail;
    }
    out.push(b'"');
}

/// The number of leading bytes that need no escape.
fn plain_prefix(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<CHUNK>();
    let plain = chunks.iter().take_while(|chunk| !has_special(chunk)).count() * CHUNK;
    let rest = &bytes[plain..];
    plain + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// Has no early return, so that the compiler can compare all bytes at once.
fn has_special(chunk: &[u8; CHUNK]) -> bool {
    chunk.iter().fold(false, |found, &byte| found | is_special(byte))
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let [high, low] = [byte >> 4, byte & 0xf].map(|digit| HEX[usize::from(digit)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
