//! The JSON values of a file, one at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use bytes::Bytes;
use serde::de::IgnoredAny;

use super::flaw::{Flaw, Source};

/// The maximum length of one value in bytes. Arrays at the top level are read by element.
const MAX_VALUE: usize = 256 << 20;

/// A value, whose inside has not been checked.
pub(super) struct Value {
    /// Its text.
    pub(super) text: Bytes,
    /// The line and the column at which it begins, from 1.
    pub(super) line: u64,
    column: u64,
    /// The position of its first byte in the file.
    pub(super) offset: u64,
}

impl Value {
    /// Checks that the value is JSON.
    pub(super) fn check_syntax(&self, source: &Source) -> Result<(), Flaw> {
        let Err(error) = serde_json::from_slice::<IgnoredAny>(&self.text) else { return Ok(()) };
        let (line, column) = (error.line() as u64, error.column() as u64);
        let first_line = line == 1;
        let column = if first_line { self.column - 1 + column } else { column };
        let place = format!("{}:{column}", self.line - 1 + line);
        Err(source.at(place, format!("this is not JSON: {}", without_position(&error))))
    }
}

/// The text of an error of the parser, which ends with a position in the parsed text.
pub(super) fn without_position(error: &serde_json::Error) -> String {
    let position = format!(" at line {} column {}", error.line(), error.column());
    let sentence = error.to_string();
    sentence.strip_suffix(&position).unwrap_or(&sentence).to_owned()
}

/// Reads the values at the top level of a file, separated by blanks or line ends, and the elements
/// of its arrays. Only one value is in memory.
pub(super) struct Values {
    reader: BufReader<File>,
    source: Source,
    line: u64,
    offset: u64,
    /// The position of the first byte of the line.
    line_start: u64,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    TopLevel,
    /// In an array, before its first element.
    ArrayStart,
    /// In an array, after an element.
    ArrayRest,
}

impl Values {
    /// Opens a file, which must be a regular one: an import reads it twice.
    pub(super) fn open(path: &Path) -> Result<Self, Flaw> {
        let source = Source::new(path);
        let file = File::open(path).map_err(|error| source.unreadable(&error))?;
        let kind = file.metadata().map_err(|error| source.unreadable(&error))?;
        if !kind.is_file() {
            return Err(source.flaw("it is not a regular file, and an import reads it twice"));
        }
        let reader = BufReader::with_capacity(64 << 10, file);
        Ok(Self { reader, source, line: 1, offset: 0, line_start: 0, place: Place::TopLevel })
    }

    /// The file, for errors.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The next value; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Value>, Flaw> {
        loop {
            let Some(byte) = self.peek_token()? else {
                return match self.place {
                    Place::TopLevel => Ok(None),
                    _ => Err(self.flaw("the array has no end")),
                };
            };
            match (self.place, byte) {
                (Place::TopLevel, b'[') => self.enter(Place::ArrayStart),
                (Place::ArrayStart | Place::ArrayRest, b']') => self.enter(Place::TopLevel),
                (Place::ArrayRest, b',') => {
                    self.consume(Extent::one_byte());
                    self.peek_token()?;
                    return self.element().map(Some);
                }
                (Place::ArrayRest, _) => {
                    return Err(self.flaw("expected ',' or ']' after an element"));
                }
                (Place::ArrayStart, _) => return self.element().map(Some),
                (Place::TopLevel, _) => return self.value().map(Some),
            }
        }
    }

    fn enter(&mut self, place: Place) {
        self.consume(Extent::one_byte());
        self.place = place;
    }

    fn element(&mut self) -> Result<Value, Flaw> {
        self.place = Place::ArrayRest;
        self.value()
    }

    /// The next byte that is not blank, which stays unread.
    fn peek_token(&mut self) -> Result<Option<u8>, Flaw> {
        loop {
            let buffer = fill(&mut self.reader, &self.source)?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let blanks = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let token = buffer.get(blanks).copied();
            let extent = Extent::measure(&buffer[..blanks]);
            self.consume(extent);
            if token.is_some() {
                return Ok(token);
            }
        }
    }

    fn value(&mut self) -> Result<Value, Flaw> {
        let (line, offset) = (self.line, self.offset);
        let column = 1 + offset - self.line_start;
        let (mut text, mut scanner) = (Vec::new(), Scanner::default());
        loop {
            let buffer = fill(&mut self.reader, &self.source)?;
            if buffer.is_empty() {
                return match scanner.is_complete_at_end() {
                    true => Ok(Value { text: text.into(), line, column, offset }),
                    false => Err(self.source.at(line, "this is not JSON: the value has no end")),
                };
            }
            let end = scanner.scan(buffer);
            let taken = end.unwrap_or(buffer.len());
            text.extend_from_slice(&buffer[..taken]);
            let extent = Extent::measure(&buffer[..taken]);
            self.consume(extent);
            if text.len() > MAX_VALUE {
                let sentence = format!("the value is longer than {MAX_VALUE} bytes");
                return Err(self.source.at(line, sentence));
            }
            if end.is_some() {
                return Ok(Value { text: text.into(), line, column, offset });
            }
        }
    }

    fn consume(&mut self, Extent { bytes, lines, last_line }: Extent) {
        self.reader.consume(bytes);
        if let Some(start) = last_line {
            self.line_start = self.offset + start as u64;
        }
        self.offset += bytes as u64;
        self.line += lines;
    }

    fn flaw(&self, sentence: &str) -> Flaw {
        self.source.at(self.line, format!("this is not JSON: {sentence}"))
    }
}

fn fill<'a>(reader: &'a mut BufReader<File>, source: &Source) -> Result<&'a [u8], Flaw> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(source.unreadable(&error)),
            Ok(_) => break,
        }
    }
    reader.fill_buf().map_err(|error| source.unreadable(&error))
}

/// The size of a part of a file.
struct Extent {
    bytes: usize,
    lines: u64,
    /// The position after the last line end.
    last_line: Option<usize>,
}

impl Extent {
    fn measure(part: &[u8]) -> Self {
        let last_line = memchr::memrchr(b'\n', part).map(|end| end + 1);
        Self { bytes: part.len(), lines: count_lines(part), last_line }
    }

    /// One byte that is no line end.
    fn one_byte() -> Self {
        Self { bytes: 1, lines: 0, last_line: None }
    }
}

/// The number of line ends.
pub(super) fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Finds the end of one value.
#[derive(Default)]
struct Scanner {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// Whether the value is neither a string nor has brackets: it ends before the next separator.
    is_bare: bool,
}

impl Scanner {
    /// The end of the value in these bytes; `None` if it continues after them.
    fn scan(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            if self.is_in_string {
                if self.ends_string(*byte) && self.depth == 0 {
                    return Some(at + 1);
                }
                continue;
            }
            match byte {
                b'"' if !self.is_bare => self.is_in_string = true,
                b'{' | b'[' if !self.is_bare => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                b',' | b']' | b' ' | b'\t' | b'\r' | b'\n' if self.is_bare => return Some(at),
                _ => self.is_bare |= self.depth == 0,
            }
        }
        None
    }

    fn ends_string(&mut self, byte: u8) -> bool {
        let was_escaped = std::mem::replace(&mut self.is_escaped, false);
        match byte {
            b'\\' => self.is_escaped = !was_escaped,
            b'"' if !was_escaped => self.is_in_string = false,
            _ => {}
        }
        !self.is_in_string
    }

    /// Whether the end of the file also ends the value.
    fn is_complete_at_end(&self) -> bool {
        self.is_bare
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The values of a file with this text, each with its line and offset, or the error.
    fn values(text: &str) -> Result<Vec<(String, u64, u64)>, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut values = Values::open(file.path()).unwrap();
        let mut all = Vec::new();
        let strip = |flaw: Flaw| {
            let path = file.path().display().to_string();
            flaw.to_string().replace(&path, "FILE")
        };
        while let Some(Value { text, line, offset, .. }) = values.next().map_err(strip)? {
            all.push((String::from_utf8(text.to_vec()).unwrap(), line, offset));
        }
        Ok(all)
    }

    fn value(text: &str, line: u64, offset: u64) -> (String, u64, u64) {
        (text.to_owned(), line, offset)
    }

    #[test]
    fn lines_and_elements_are_values() {
        let ndjson = "{\"a\":1}\n\n{\"b\":\n\"}\\\"\"}\n";
        let expected = vec![value("{\"a\":1}", 1, 0), value("{\"b\":\n\"}\\\"\"}", 3, 9)];
        assert_eq!(values(ndjson), Ok(expected));
        let array = "\n[ {\"a\":[1]} ,\n 2,\"x,y\"]\n[]";
        let expected = vec![value("{\"a\":[1]}", 2, 3), value("2", 3, 16), value("\"x,y\"", 3, 18)];
        assert_eq!(values(array), Ok(expected));
        assert_eq!(values(""), Ok(Vec::new()));
    }

    #[test]
    fn values_across_the_buffer_stay_whole() {
        let long = format!("\"{}\\\\\"", "x".repeat(70 << 10));
        let text = format!("[{long},{long}]");
        let all = values(&text).unwrap();
        assert_eq!(all.iter().map(|(text, ..)| text).collect::<Vec<_>>(), [&long, &long]);
    }

    #[test]
    fn syntax_error_has_line_and_column_of_the_file() {
        for (text, place) in [
            ("{}\n  {\"a\":1,}", "2:10: this is not JSON: key must be a string"),
            ("[1,\n {\n  \"a\" 1\n }]", "3:7: this is not JSON: expected `:`"),
            ("[{}, [1}]", "1:8: this is not JSON: expected `,` or `]`"),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let source = Source::new(Path::new("FILE"));
            let mut values = Values::open(file.path()).unwrap();
            assert_eq!(values.next().unwrap().unwrap().check_syntax(&source), Ok(()));
            let flaw = values.next().unwrap().unwrap().check_syntax(&source).unwrap_err();
            assert_eq!(flaw.to_string(), format!("FILE:{place}"));
        }
    }

    #[test]
    fn cut_text_is_rejected_with_its_line() {
        let no_end = "this is not JSON: the value has no end";
        assert_eq!(values("{}\n{\"a\":"), Err(format!("FILE:2: {no_end}")));
        assert_eq!(values("[{}\n"), Err("FILE:2: this is not JSON: the array has no end".into()));
        let missing = "FILE:2: this is not JSON: expected ',' or ']' after an element";
        assert_eq!(values("[{}\n{}]"), Err(missing.into()));
    }
}
