//! `antiphon convert`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use antiphon::dialect::{Conversion, Converted, Dialect, RequestContext, Writer};
use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, Event, Form, Permission, UsedIds};
use antiphon::{IdSource, Origin};
use antiphon_gateway::entropy::{RandomIds, unix_now};

use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::settings::parse_event_names;

/// Converts standard input to standard output, event by event as the input arrives.
pub(crate) fn convert(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let from = dialect("--from", &args.from)?;
    let to = dialect("--to", &args.to)?;
    let writer = Writer::new(to).ok_or_else(|| {
        Failure::usage(format!("--to: cannot convert to '{to}'; use responses, chat or anthropic"))
    })?;
    let out = Output::from_args(args);
    let conversion = conversion(args, from, writer)?;
    run(conversion, &mut io::stdin().lock(), out, &mut io::stdout().lock())
}

fn dialect(flag: &str, name: &str) -> Result<Dialect, Failure> {
    name.parse().map_err(|error| Failure::usage(format!("{flag}: {error}")))
}

fn conversion(args: &ConvertArgs, from: Dialect, writer: Writer) -> Result<Conversion, Failure> {
    let text = args.request.as_deref().map(request_text).transpose()?;
    let request = match text.as_deref() {
        None => Object::default(),
        Some(text) => Object::parse(text).map_err(|error| {
            Failure::usage(format!("--request: this is not a JSON object: {error}"))
        })?,
    };
    let form = args.event_names.as_deref().map_or(Ok(Form::default()), parse_event_names);
    let form = form.map_err(|sentence| Failure::usage(format!("--event-names: {sentence}")))?;
    let mut ids = RandomIds;
    let envelope = Envelope::new(&ids.issue("resp"), unix_now(), &request, None);
    let assembler = Assembler::new(envelope, UsedIds::default(), Box::new(ids), true)
        .with_form(form)
        .with_permission(Permission::from_request(&request));
    let context = RequestContext::from_request(&request, &[], Origin::new(from.name()));
    Ok(Conversion::new(from, context, assembler, writer))
}

fn request_text(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    fs::read(path).map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))
}

fn run(
    mut conversion: Conversion,
    input: &mut impl Read,
    form: Output,
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let count = match input.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::runtime(format!(
                    "standard input could not be read to its end: {error}"
                )));
            }
        };
        let events = conversion.push(&bytes[..count]);
        form.write_events(&events, out).map_err(|error| Failure::output(&error))?;
    }
    let converted = conversion.finish(unix_now());
    form.write_end(&converted, out).map_err(|error| Failure::output(&error))?;
    print_notes(&converted);
    match converted.error {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(Failure::runtime(error.to_string())),
    }
}

/// The output format.
#[derive(Clone, Copy)]
enum Output {
    /// An event stream.
    EventStream,
    /// One event per line.
    Ndjson,
    /// The whole response as one JSON object, at the end.
    Folded,
}

impl Output {
    fn from_args(args: &ConvertArgs) -> Self {
        match (args.ndjson, args.fold) {
            (true, _) => Self::Ndjson,
            (_, true) => Self::Folded,
            _ => Self::EventStream,
        }
    }

    fn write_events(self, events: &[Event], out: &mut impl Write) -> io::Result<()> {
        for event in events {
            match self {
                Self::EventStream => out.write_all(&event.to_sse())?,
                Self::Ndjson => {
                    out.write_all(&event.data)?;
                    out.write_all(b"\n")?;
                }
                Self::Folded => {}
            }
        }
        out.flush()
    }

    fn write_end(self, converted: &Converted, out: &mut impl Write) -> io::Result<()> {
        self.write_events(&converted.events, out)?;
        match self {
            Self::EventStream if converted.ends_with_done => out.write_all(b"data: [DONE]\n\n")?,
            Self::Folded => writeln!(out, "{}", converted.folded)?,
            _ => {}
        }
        out.flush()
    }
}

/// Prints one line per note of the conversion, and the upstream's error message if the response
/// failed.
fn print_notes(converted: &Converted) {
    let finished = &converted.finished;
    for note in &finished.notes {
        eprintln!("note: {note}");
    }
    if let Some(failure) = finished.failure.as_ref().filter(|_| converted.error.is_none()) {
        eprintln!("note: the response failed: {}", failure.message);
    }
}
