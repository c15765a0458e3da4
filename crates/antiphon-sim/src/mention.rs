//! The tools that a text asks for, with the evidence for each.

use std::ops::Range;

use super::evidence::Evidence;
use super::places::{find_place, find_places};
use super::text::{Word, is_listed, phrase_at, quotes, words};
use super::tools::Tool;

/// A tool that the text asks for: one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention<'a, 't> {
    pub(super) tool: &'a Tool,
    pub(super) evidence: Evidence<'t>,
}

/// Words between a tool's name and a second mention of the same call:
/// `the echo tool to echo hello`.
const LEAD_IN: &str = "tool function to the please";

/// Words after a tool's name that ask for nothing: `using the echo tool, please`.
const IDLE: &str = "tool function please and then";

/// The tools that `text` asks for, in order of mention; one entry per call.
pub(super) fn mentions<'a, 't>(text: &'t str, tools: &[&'a Tool]) -> Vec<Mention<'a, 't>> {
    let mut spans = find_named(text, tools);
    spans.extend(weather(text, tools, &spans));
    spans.sort_by_key(|span| span.range.start);
    let mut found: Vec<Mention<'a, 't>> = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let next = spans.get(at + 1);
        let segment = &text[span.range.end..next.map_or(text.len(), |next| next.range.start)];
        let before = &text[at.checked_sub(1).map_or(0, |at| spans[at].range.end)..span.range.start];
        let leads_in = next.is_some_and(|next| next.is_of(span.tool)) && is_lead_in(segment);
        let looks_back = found.last().is_some_and(|last| span.is_of(last.tool))
            && names_the_means(before, segment);
        if !leads_in && !looks_back {
            found.extend(span.mentions(segment, text));
        }
    }
    found
}

/// A mention of a tool in a text.
struct Span<'a> {
    tool: &'a Tool,
    range: Range<usize>,
    by: By,
}

/// The kind of a mention.
#[derive(Clone, Copy)]
enum By {
    Name,
    Subject,
}

impl<'a> Span<'a> {
    fn is_of(&self, tool: &Tool) -> bool {
        self.tool.name == tool.name && self.tool.namespace == tool.namespace
    }

    /// The calls for this span and the `segment` after it. A weather tool gets one call for each
    /// place. Any other tool gets one call, or two if the segment contains `twice`.
    fn mentions<'t>(&self, segment: &'t str, text: &'t str) -> Vec<Mention<'a, 't>> {
        let evidence = match self.by {
            By::Name => Evidence::after_name(segment, text),
            By::Subject => Evidence::after_subject(segment, text),
        };
        let mention = Mention { tool: self.tool, evidence };
        let places = if is_for_weather(self.tool) { find_places(segment) } else { Vec::new() };
        if places.len() > 1 {
            let at = |place| Mention { evidence: evidence.at(place), ..mention };
            return places.into_iter().map(at).collect();
        }
        let twice = words(segment).iter().any(|word| word.lower == "twice");
        vec![mention; if twice { 2 } else { 1 }]
    }
}

/// The tool names in `text`. A tool of a namespace can be named with the namespace before it. If
/// several names begin at the same word, the longest counts. Quotes are arguments: a name within
/// quotes counts only if it is the whole quote, and only if no name is outside of quotes.
fn find_named<'a>(text: &str, tools: &[&'a Tool]) -> Vec<Span<'a>> {
    let quotes = quotes(text);
    let within = |span: &Span<'_>| quotes.iter().any(|quote| overlap(quote, &span.range));
    let (inside, outside): (Vec<_>, Vec<_>) =
        find_all_named(text, tools).into_iter().partition(within);
    let whole = |span: &Span<'_>| quotes.contains(&span.range);
    if outside.is_empty() { inside.into_iter().filter(whole).collect() } else { outside }
}

fn find_all_named<'a>(text: &str, tools: &[&'a Tool]) -> Vec<Span<'a>> {
    let with_namespace = |tool: &Tool| Some(format!("{}__{}", tool.namespace.as_ref()?, tool.name));
    let full_names: Vec<_> = tools.iter().map(|tool| with_namespace(tool)).collect();
    let full =
        tools.iter().zip(&full_names).filter_map(|(tool, full)| Some((*tool, full.as_ref()?)));
    let names = tools.iter().map(|tool| (*tool, &tool.name)).chain(full);
    let names: Vec<_> = names.map(|(tool, name)| (tool, words(name))).collect();
    let text_words = words(text);
    let mut spans: Vec<Span<'a>> = Vec::new();
    for at in 0..text_words.len() {
        if spans.last().is_some_and(|last| text_words[at].start < last.range.end) {
            continue;
        }
        let here = names.iter().filter_map(|(tool, name)| {
            let range = phrase_at(text, &text_words[at..], name)?;
            Some(Span { tool, range, by: By::Name })
        });
        spans.extend(here.max_by_key(|span| span.range.end));
    }
    spans
}

/// The requests for the weather without the name of a tool: one for each place, or one in total.
fn weather<'a>(text: &str, tools: &[&'a Tool], named: &[Span<'a>]) -> Vec<Span<'a>> {
    let named_anyway = named.iter().any(|span| is_for_weather(span.tool));
    let Some(tool) = tools.iter().find(|tool| !named_anyway && is_for_weather(tool)) else {
        return Vec::new();
    };
    let quotes = quotes(text);
    let spots: Vec<Range<usize>> = words(text)
        .into_iter()
        .filter(|word| word.lower == "weather")
        .map(|word| word.start..word.end)
        .filter(|spot| !quotes.iter().any(|quote| overlap(quote, spot)))
        .filter(|spot| !named.iter().any(|span| overlap(&span.range, spot)))
        .collect();
    let ends = spots.iter().skip(1).map(|next| next.start).chain([text.len()]);
    let placed =
        spots.iter().zip(ends).filter(|(spot, end)| find_place(&text[spot.end..*end]).is_some());
    let placed: Vec<Range<usize>> = placed.map(|(spot, _)| spot.clone()).collect();
    let asked = if placed.is_empty() { &spots[..spots.len().min(1)] } else { &placed };
    asked.iter().map(|range| Span { tool, range: range.clone(), by: By::Subject }).collect()
}

fn is_for_weather(tool: &Tool) -> bool {
    let about = |text: &str| text.to_lowercase().contains("weather");
    about(&tool.name) || about(&tool.description)
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Whether `segment` only introduces the next mention of the same call, as `Use the echo tool to`
/// does before `echo hello`.
fn is_lead_in(segment: &str) -> bool {
    let between = words(segment);
    let leads = |word: &Word| matches!(word.lower.as_str(), "tool" | "function" | "to");
    between.iter().all(|word| is_listed(&word.lower, LEAD_IN)) && between.iter().any(leads)
}

/// Whether the mention only repeats the tool of the call before it, as in
/// `Echo hello using the echo tool`.
fn names_the_means(before: &str, segment: &str) -> bool {
    let before = words(before);
    let last = before.iter().map(|word| word.lower.as_str()).rfind(|word| *word != "the");
    matches!(last, Some("using" | "with" | "via" | "by"))
        && words(segment).iter().all(|word| is_listed(&word.lower, IDLE))
}
