//! One tool call with two item ids: two paths of a converter announce it, and a client that accepts
//! both runs the tool twice.

use antiphon::IdSource;
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Failure, UsedIds};

/// Counts up. A real program would use random numbers of the operating system.
struct Counter(u8);

impl IdSource for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(self.0);
    }
}

const CALL: &str = r#""type":"function_call","call_id":"call_1","name":"get_weather""#;

pub(crate) fn main() {
    let request = Object::parse(br#"{"model":"m"}"#).expect("the text above is an object");
    let envelope = Envelope::new("resp_1", 0, &request, None);
    let mut assembler = Assembler::new(envelope, UsedIds::default(), Box::new(Counter(0)), false);
    let first = format!(r#"{{{CALL},"id":"fc_abc","arguments":""}}"#);
    let second = format!(r#"{{{CALL},"id":"fc_xyz","arguments":"{{}}"}}"#);
    let upstream = [("added", 0, &first), ("added", 1, &second), ("done", 1, &second)];

    for (edge, at, item) in upstream {
        let event = format!(
            r#"{{"type":"response.output_item.{edge}","output_index":{at},"item":{item}}}"#
        );
        assembler.apply_event(&event.into()).expect("the texts above are objects");
    }
    assembler.fail(Failure::server_error("The upstream went away."));

    let mut announced = 0;
    while let Some(event) = assembler.next_event() {
        println!("{}", event.kind);
        announced += usize::from(event.kind == "response.output_item.added");
    }
    assert_eq!(announced, 1);
    assert_eq!(assembler.finish(0).output.len(), 1);
}
