//! Texts as JSON strings.

/// How many bytes are looked at together.
const CHUNK: usize = 32;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes `text` as a JSON string: only what has to be is escaped.
pub(crate) fn write_quoted(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    loop {
        let (plain, behind) = rest.split_at(plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = behind.split_first() else { break };
        write_escape(out, byte);
        rest = behind;
    }
    out.push(b'"');
}

/// How many of the first bytes stand in a JSON string as they are.
fn plain_prefix(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<CHUNK>();
    let plain = chunks.iter().take_while(|chunk| !has_special(chunk)).count() * CHUNK;
    let rest = &bytes[plain..];
    plain + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// Without an early end, so that the compiler looks at all bytes at once.
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
