//! Builds the views of turns.

use std::collections::HashMap;

use antiphon::json::Object;
use antiphon::stream::Usage;
use antiphon_store::{ResponseRecord, Seq, StoreError};

use super::forest::{Forest, Path};
use super::inspector::{Inspector, Items, PathTurn};
use super::lanes::{SHORT, TurnLanes, needed_resent};
use super::model::{Cost, Tokens, TurnFailure, TurnView};
use super::stored_report::StoredReport;
use crate::turn::public_report;

type Result<T> = std::result::Result<T, StoreError>;

/// The views of consecutive turns of a path.
pub(super) async fn views(
    inspector: &Inspector<'_>,
    forest: &Forest,
    path: &Path<'_>,
    turns: &[PathTurn<'_>],
) -> Result<Vec<TurnView>> {
    let Some((_, last, _)) = turns.last() else { return Ok(Vec::new()) };
    let records = inspector.records(forest, turns).await?;
    let mut items = inspector.items(forest, path, (first_item(turns), last.end)).await?;
    let reports: Vec<_> =
        records.iter().map(|record| StoredReport::parse(&record.response.report)).collect();
    let by_id: HashMap<_, _> = turns.iter().map(|turn| (&turn.1.listed.id, turn)).collect();
    for (record, report) in records.iter().zip(&reports) {
        let Some((.., before)) = by_id.get(&record.response.id) else { continue };
        inspector.add_items(forest, path, needed_resent(report, *before), &mut items).await?;
    }
    let views = records.iter().zip(&reports).filter_map(|(record, report)| {
        let turn = by_id.get(&record.response.id)?;
        Some(view(inspector, forest, turn, (record, report), &items))
    });
    Ok(views.collect())
}

/// The position of the first item that the views of these turns need. A turn after few items shows
/// them all.
pub(super) fn first_item(turns: &[PathTurn<'_>]) -> Seq {
    let has_short = turns.iter().any(|(.., before)| before.items <= SHORT);
    let first = turns.first().filter(|_| !has_short);
    first.map_or(0, |(segment, ..)| segment.first)
}

/// The view of a turn, from its record, its report and the items of its path.
pub(super) fn view(
    inspector: &Inspector<'_>,
    forest: &Forest,
    (segment, _, before): &PathTurn<'_>,
    (record, report): (&ResponseRecord, &StoredReport),
    items: &Items,
) -> TurnView {
    let answer = AnswerFields::parse(&record.response.envelope);
    let lanes = TurnLanes::new(record, report, *before, items, inspector.shows_bodies);
    let parent = forest.parent(segment).map(|turn| turn.listed.id.to_string());
    TurnView {
        id: record.response.id.to_string(),
        conversation: record.response.conversation.as_ref().map(ToString::to_string),
        previous: answer.previous.clone().or(parent),
        created_at: record.response.created_at,
        cost: answer.cost(report, inspector),
        model: answer.model,
        status: answer.status,
        error: answer.error,
        tokens: answer.usage.map(Tokens::from),
        received: lanes.received(),
        stored_before: lanes.stored_before(),
        sent: lanes.sent(),
        returned: lanes.returned(),
        report: serde_json::from_slice(&public_report(&record.response.report)).unwrap_or_default(),
    }
}

/// The fields of a stored response object.
pub(super) struct AnswerFields {
    pub(super) model: String,
    pub(super) status: String,
    pub(super) previous: Option<String>,
    pub(super) error: Option<TurnFailure>,
    pub(super) usage: Option<Usage>,
}

impl AnswerFields {
    pub(super) fn parse(envelope: &[u8]) -> Self {
        let object = Object::parse(envelope).unwrap_or_default();
        let text = |key| object.string(key).map(std::borrow::Cow::into_owned);
        Self {
            model: text("model").unwrap_or_default(),
            status: text("status").unwrap_or_default(),
            previous: text("previous_response_id"),
            error: object.present("error").and_then(failure),
            usage: object.present("usage").and_then(Usage::from_json),
        }
    }

    /// The cost in the report, or else that of the tokens at the present prices.
    pub(super) fn cost(&self, report: &StoredReport, inspector: &Inspector<'_>) -> Option<Cost> {
        let prices = inspector.prices;
        let now = || {
            let amount = prices.cost(&self.model, self.usage?)?;
            Some(Cost { amount, currency: prices.currency.clone() })
        };
        report.cost.clone().or_else(now)
    }
}

fn failure(error: &str) -> Option<TurnFailure> {
    let error = Object::parse_str(error).ok()?;
    let text = |key| error.string(key).unwrap_or_default().into_owned();
    Some(TurnFailure { code: text("code"), message: text("message") })
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input_tokens,
            cached: usage.cached_tokens,
            output: usage.output_tokens,
            reasoning: usage.reasoning_tokens,
        }
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.cached += more.cached;
        self.output += more.output;
        self.reasoning += more.reasoning;
    }
}
