//! Golden streams: one input per case and dialect, converted to every output dialect.
//!
//! `golden/DIALECT/CASE.sse` (or `.ndjson`) is an upstream's stream in that dialect.
//! `golden/DIALECT/expected/CASE.TARGET` has the client's events, one per line; after an empty
//! line, the answer in one piece; after another empty line, the repairs and omissions. Of the
//! response object, which every stream has three times, only the differences from the response to
//! an empty request are shown.
//!
//! `ANTIPHON_GOLDEN=write` rewrites the expected files. Review them before you commit them.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon::dialect::{Conversion, Converted, Dialect, RequestContext, Writer};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Event, Form, UsedIds};
use antiphon::{IdSource, Origin};
use serde_json::Value;

#[path = "../../../tests/schema/mod.rs"]
mod schema;

const NOW: i64 = 1_770_000_060;

#[test]
fn streams_convert_as_expected() {
    let mut wrong = Vec::new();
    for case in cases() {
        for target in [Dialect::Responses, Dialect::Chat, Dialect::Anthropic] {
            let received = case.converted(target, Form::OpenAi).to_text();
            if !case.is_expected(target, &received) {
                wrong.push(format!("{} to {target}:\n{received}", case.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The specification's schema has the event names of Open Responses.
#[test]
fn responses_streams_match_the_schema() {
    for case in cases() {
        let received = case.converted(Dialect::Responses, Form::OpenResponses);
        println!("{}", case.name());
        for event in &received.events {
            schema::assert_event_shape(event);
        }
        schema::assert_response_shape(&received.folded);
    }
}

#[test]
fn folded_response_equals_the_final_response() {
    for case in cases() {
        let received = case.converted(Dialect::Responses, Form::OpenAi);
        let last = received.events.last().expect("a stream has an end");
        assert_eq!(last["response"], received.folded, "{}", case.name());
    }
}

/// The result does not depend on the chunks of the input.
#[test]
fn input_chunks_do_not_matter() {
    for case in cases() {
        let whole = case.converted(Dialect::Responses, Form::OpenAi);
        for length in [1, 7, 64] {
            let cut = case.converted_in_pieces(Dialect::Responses, Form::OpenAi, length);
            assert!(cut.events == whole.events, "{} in pieces of {length}", case.name());
        }
    }
}

/// One stream of an upstream.
struct Case {
    dialect: Dialect,
    path: PathBuf,
}

/// The client's events.
struct Told {
    events: Vec<Value>,
    folded: Value,
    /// The repairs and the omissions, in sentences.
    notes: Vec<String>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let of = |dialect: Dialect| {
        let inputs = fs::read_dir(folder.join(dialect.name())).expect("every dialect has cases");
        let paths = inputs.map(|entry| entry.expect("the folder can be read").path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
        paths.sort();
        assert!(paths.len() >= 10, "{dialect} has cases");
        paths.into_iter().map(move |path| Case { dialect, path })
    };
    Dialect::ALL.into_iter().flat_map(of).collect()
}

impl Case {
    fn name(&self) -> String {
        let name = self.path.file_stem().expect("a case is a file");
        format!("{}/{}", self.dialect, name.to_string_lossy())
    }

    fn converted(&self, target: Dialect, form: Form) -> Told {
        self.converted_in_pieces(target, form, usize::MAX)
    }

    fn converted_in_pieces(&self, target: Dialect, form: Form, length: usize) -> Told {
        let input = fs::read(&self.path).expect("a case can be read");
        let mut conversion = self.conversion(target, form);
        let mut events = Vec::new();
        for piece in input.chunks(length) {
            events.extend(conversion.push(piece));
        }
        let Converted { events: last, folded, finished, .. } = conversion.finish(NOW);
        events.extend(last);
        let json = |event: &Event| serde_json::from_slice(&event.data).expect("events are JSON");
        Told {
            events: events.iter().map(json).collect(),
            folded: serde_json::from_str(&folded).expect("an answer is JSON"),
            notes: finished.notes.iter().map(ToString::to_string).collect(),
        }
    }

    fn conversion(&self, target: Dialect, form: Form) -> Conversion {
        let request = self.request();
        let request = Object::parse(request.as_bytes()).expect("a request is an object");
        // The specification has no custom tools, so the response does not echo them.
        let envelope = Envelope::new("resp_golden", 1_770_000_000, &Object::default(), None);
        let ids = Box::new(Counting::default());
        let assembler = Assembler::new(envelope, UsedIds::default(), ids, true).with_form(form);
        let context = RequestContext::from_request(
            &request,
            &[],
            Origin::new(format!("golden {}", self.dialect)),
        );
        let writer = Writer::new(target).expect("it is written");
        Conversion::new(self.dialect, context, assembler, writer)
    }

    /// The request. Only cases with custom tools depend on it.
    fn request(&self) -> String {
        match self.name().contains("custom") {
            true => {
                r#"{"tools":[{"type":"custom","name":"run_sql"},
                {"type":"custom","name":"code_exec"},{"type":"custom","name":"shell"}]}"#
            }
            false => "{}",
        }
        .to_owned()
    }

    fn is_expected(&self, target: Dialect, received: &str) -> bool {
        let folder = self.path.with_file_name("expected");
        let name = self.path.file_stem().expect("a case is a file").to_string_lossy();
        let path = folder.join(format!("{name}.{target}"));
        if std::env::var_os("ANTIPHON_GOLDEN").is_some_and(|how| how == "write") {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&path, received).expect("the expectation can be written");
        }
        fs::read_to_string(&path).is_ok_and(|expected| expected == received)
    }
}

impl Told {
    fn to_text(&self) -> String {
        let begun = &self.events[0]["response"].clone();
        let lines: Vec<String> = self.events.iter().map(|event| cut_down(event, begun)).collect();
        let folded = match self.folded["object"] == "response" {
            true => changes(&self.folded, begun),
            false => self.folded.clone(),
        };
        let notes = match &*self.notes {
            [] => String::new(),
            notes => format!("\n{}\n", notes.join("\n")),
        };
        format!("{}\n\n{folded}\n{notes}", lines.join("\n"))
    }
}

/// The event, with only the differences of its response from `begun`.
fn cut_down(event: &Value, begun: &Value) -> String {
    let mut event = event.clone();
    if event["response"].is_object() {
        event["response"] = changes(&event["response"], begun);
    }
    event.to_string()
}

fn changes(response: &Value, begun: &Value) -> Value {
    let fields = response.as_object().expect("a response is an object").iter();
    let changed = fields.filter(|(key, value)| begun[key.as_str()] != **value);
    changed.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Sequential ids.
#[derive(Default)]
struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(0);
        let at = bytes.len() - 8;
        bytes[at..].copy_from_slice(&self.0.to_be_bytes());
    }
}
