//! A subscriber that collects spans and events, as an exporter would see them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The spans and events of this thread, in the order in which they began.
#[derive(Clone, Default)]
pub(crate) struct Collector(Arc<Mutex<Collected>>);

#[derive(Default)]
struct Collected {
    spans: Vec<CollectedSpan>,
    events: Vec<Fields>,
}

/// A span and its attributes.
#[derive(Clone, Debug)]
pub(crate) struct CollectedSpan {
    id: u64,
    parent: Option<u64>,
    pub(crate) fields: Fields,
    pub(crate) is_closed: bool,
}

pub(crate) type Fields = BTreeMap<&'static str, String>;

impl Collector {
    /// Collects the spans of this thread until the guard is dropped.
    pub(crate) fn install() -> (Self, DefaultGuard) {
        let collector = Self::default();
        let subscriber = Registry::default().with(collector.clone());
        (collector, tracing::subscriber::set_default(subscriber))
    }

    /// The spans of the agents, as exporters name them.
    pub(crate) fn spans(&self) -> Vec<CollectedSpan> {
        let collected = self.0.lock().unwrap();
        let named = |span: &&CollectedSpan| span.fields.contains_key("otel.name");
        collected.spans.iter().filter(named).cloned().collect()
    }

    /// The span with this name.
    pub(crate) fn span(&self, name: &str) -> CollectedSpan {
        let spans = self.spans();
        let found = spans.iter().find(|span| span.name() == name);
        found.unwrap_or_else(|| panic!("no span {name}: {spans:#?}")).clone()
    }

    /// The names of all spans, each below its parent.
    pub(crate) fn tree(&self) -> String {
        let spans = self.spans();
        let is_root = |span: &&CollectedSpan| {
            span.parent.is_none_or(|parent| spans.iter().all(|it| it.id != parent))
        };
        spans.iter().filter(is_root).map(|root| subtree(&spans, root, 0)).collect()
    }

    pub(crate) fn events(&self) -> Vec<Fields> {
        self.0.lock().unwrap().events.clone()
    }
}

fn subtree(spans: &[CollectedSpan], span: &CollectedSpan, depth: usize) -> String {
    let below = spans.iter().filter(|it| it.parent == Some(span.id));
    let below: String = below.map(|it| subtree(spans, it, depth + 1)).collect();
    format!("{}{}\n{below}", "  ".repeat(depth), span.name())
}

impl CollectedSpan {
    pub(crate) fn name(&self) -> &str {
        &self.fields["otel.name"]
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

struct FieldVisitor<'a>(&'a mut Fields);

impl Visit for FieldVisitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut FieldVisitor(&mut fields));
        let parent = context.span(id).and_then(|span| Some(span.parent()?.id().into_u64()));
        let span = CollectedSpan { id: id.into_u64(), parent, fields, is_closed: false };
        self.0.lock().unwrap().spans.push(span);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut collected = self.0.lock().unwrap();
        // Ids are used again after a span is closed.
        let spans = &mut collected.spans;
        let span = spans.iter_mut().rfind(|span| span.id == id.into_u64()).unwrap();
        values.record(&mut FieldVisitor(&mut span.fields));
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut FieldVisitor(&mut fields));
        self.0.lock().unwrap().events.push(fields);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut collected = self.0.lock().unwrap();
        let span = collected.spans.iter_mut().rfind(|span| span.id == id.into_u64());
        span.unwrap().is_closed = true;
    }
}
