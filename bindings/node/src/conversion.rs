//! A stream in another dialect, part by part.

use antiphon_surface::{self as surface, Event};
use bytes::Bytes;
use napi_derive::napi;

use crate::text::{Error, error};

/// A conversion of one answer. Events are told as JSON, or as they stand in an event stream.
#[napi]
pub struct Conversion {
    /// Nothing once it is over.
    conversion: Option<surface::Conversion>,
    as_event_stream: bool,
}

/// The end of a conversion.
#[napi(object, object_from_js = false)]
pub struct Converted {
    /// What the client is told last.
    pub events: Vec<String>,
    /// The whole answer as JSON.
    pub folded: String,
    /// What was put right, a sentence each.
    pub notes: Vec<String>,
    /// What was wrong with the input.
    pub error: Option<String>,
}

#[napi]
impl Conversion {
    /// A conversion from one dialect to another. `request` is a JSON object; `now` in Unix seconds.
    #[napi(constructor)]
    pub fn new(
        from: String,
        to: String,
        request: Option<String>,
        event_names: Option<String>,
        now: i64,
    ) -> Result<Self, Error> {
        let request = request.map(Bytes::from);
        let names = event_names.as_deref();
        let conversion = surface::Conversion::new(&from, &to, request.as_ref(), names, now);
        let conversion = conversion.map_err(|reason| error("conversion", &reason))?;
        Ok(Self { conversion: Some(conversion), as_event_stream: false })
    }

    /// From here on events are told as they stand in an event stream.
    #[napi]
    pub fn write_event_stream(&mut self) {
        self.as_event_stream = true;
    }

    /// Takes the next bytes of the input. What the client is told by them.
    #[napi]
    pub fn push(&mut self, bytes: String) -> Vec<String> {
        let conversion = self.conversion.as_mut();
        let events = conversion.map(|conversion| conversion.push(bytes.as_bytes()));
        self.texts(events.unwrap_or_default())
    }

    /// The input is over. Nothing is told a second time.
    #[napi]
    pub fn finish(&mut self, now: i64) -> Option<Converted> {
        let conversion = self.conversion.take()?;
        let says_done = conversion.says_done() && self.as_event_stream;
        let surface::Converted { events, folded, notes, error } = conversion.finish(now);
        let mut events = self.texts(events);
        events.extend(says_done.then(|| "data: [DONE]\n\n".to_owned()));
        Some(Converted { events, folded, notes, error })
    }

    fn texts(&self, events: Vec<Event>) -> Vec<String> {
        let text = |event: Event| {
            let bytes = if self.as_event_stream { event.sse() } else { event.data };
            String::from_utf8_lossy(&bytes).into_owned()
        };
        events.into_iter().map(text).collect()
    }
}
