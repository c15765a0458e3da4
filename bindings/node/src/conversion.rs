//! Converts a stream to another dialect, part by part.

use antiphon_surface::{self as surface, Event};
use bytes::Bytes;
use napi_derive::napi;

use crate::text::{Error, error};

/// A conversion of one answer. Returns events as JSON, or in the format of an event stream.
#[napi]
pub struct Conversion {
    /// `None` after the end.
    conversion: Option<surface::Conversion>,
    as_event_stream: bool,
}

/// The end of a conversion.
#[napi(object, object_from_js = false)]
pub struct Converted {
    /// The last events.
    pub events: Vec<String>,
    /// The full answer as JSON.
    pub folded: String,
    /// A sentence for each correction.
    pub notes: Vec<String>,
    /// The error in the input.
    pub error: Option<String>,
}

#[napi]
impl Conversion {
    /// Creates a conversion between two dialects. `request` is a JSON object; `now` is in Unix
    /// seconds.
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

    /// Switches the output to the format of an event stream.
    #[napi]
    pub fn write_event_stream(&mut self) {
        self.as_event_stream = true;
    }

    /// Reads the next bytes of the input, and returns the resulting events.
    #[napi]
    pub fn push(&mut self, bytes: String) -> Vec<String> {
        let conversion = self.conversion.as_mut();
        let events = conversion.map(|conversion| conversion.push(bytes.as_bytes()));
        self.texts(events.unwrap_or_default())
    }

    /// Ends the input. Returns `None` if it was called before.
    #[napi]
    pub fn finish(&mut self, now: i64) -> Option<Converted> {
        let conversion = self.conversion.take()?;
        let surface::Converted { events, folded, ends_with_done, notes, error } =
            conversion.finish(now);
        let mut events = self.texts(events);
        events.extend(
            (ends_with_done && self.as_event_stream).then(|| "data: [DONE]\n\n".to_owned()),
        );
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
