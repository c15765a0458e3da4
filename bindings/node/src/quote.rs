//! Writes strings as JSON.

use napi::bindgen_prelude::{BufferSlice, Utf16String};
use napi_derive::napi;

use crate::text::{Error, error};

/// The size of `\u001f`.
const MAX_BYTES_PER_UNIT: usize = 6;
const QUOTES: usize = 2;

/// Writes a string to `into` at the position `at`, and returns the number of bytes.
///
/// Equals `JSON.stringify` byte for byte: lone surrogates are escaped. `into` needs room for the
/// longest form of a string of this length.
#[napi]
pub fn quote(text: Utf16String, mut into: BufferSlice, at: i64) -> Result<u32, Error> {
    let room = usize::try_from(at).ok().and_then(|at| into.get_mut(at..)).unwrap_or_default();
    if room.len() < MAX_BYTES_PER_UNIT * text.len() + QUOTES {
        return Err(error("room", &"The buffer is too small for the text."));
    }
    Ok(u32::try_from(write(&text, room)).expect("a string has less than 2^29 units"))
}

fn write(units: &[u16], room: &mut [u8]) -> usize {
    room[0] = b'"';
    let mut length = 1;
    let mut rest = units;
    loop {
        let plain = copy_plain(rest, &mut room[length..]);
        length += plain;
        rest = &rest[plain..];
        let Some(next) = char::decode_utf16(rest.iter().copied()).next() else { break };
        let next = next.map_err(|lone| lone.unpaired_surrogate());
        length += write_special(next, &mut room[length..]);
        rest = &rest[next.map_or(1, char::len_utf16)..];
    }
    room[length] = b'"';
    length + 1
}

/// Copies the units before the first one that needs an escape, and returns their number.
///
/// Works on windows with byte masks, so that the compiler can compare all units at once.
fn copy_plain(units: &[u16], room: &mut [u8]) -> usize {
    let mut copied = 0;
    while let Some(window) = units[copied..].first_chunk::<16>() {
        room[copied..copied + window.len()].copy_from_slice(&window.map(low_byte));
        let special = u128::from_le_bytes(window.map(|unit| if is_plain(unit) { 0 } else { 0xff }));
        if special != 0 {
            return copied + special.trailing_zeros() as usize / 8;
        }
        copied += window.len();
    }
    let last = units[copied..].iter().take_while(|unit| is_plain(**unit));
    for (unit, byte) in last.zip(&mut room[copied..]) {
        *byte = low_byte(*unit);
        copied += 1;
    }
    copied
}

/// Whether the unit is ASCII without an escape.
fn is_plain(unit: u16) -> bool {
    (0x20..0x80).contains(&unit) && unit != u16::from(b'"') && unit != u16::from(b'\\')
}

fn low_byte(unit: u16) -> u8 {
    unit.to_le_bytes()[0]
}

/// Writes a character or a lone surrogate, and returns the number of bytes.
fn write_special(next: Result<char, u16>, room: &mut [u8]) -> usize {
    let letter = match next {
        Ok(quoted @ ('"' | '\\')) => quoted,
        Ok('\u{8}') => 'b',
        Ok('\t') => 't',
        Ok('\n') => 'n',
        Ok('\u{c}') => 'f',
        Ok('\r') => 'r',
        Ok(control @ ..' ') => return write_escaped(control as u32, room),
        Ok(character) => return character.encode_utf8(room).len(),
        Err(surrogate) => return write_escaped(surrogate.into(), room),
    };
    room[0] = b'\\';
    1 + letter.encode_utf8(&mut room[1..]).len()
}

fn write_escaped(unit: u32, room: &mut [u8]) -> usize {
    let digit = |shift: u32| b"0123456789abcdef"[(unit >> shift & 15) as usize];
    let escape = [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)];
    room[..escape.len()].copy_from_slice(&escape);
    escape.len()
}
