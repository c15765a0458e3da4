//! The judgement of the provider about all of its requests.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_mock::StrictProvider;
use serde_json::Value;

/// A part of the output that reports an unknown outcome.
const UNKNOWN: &str = "outcome is unknown";

/// Checks that the provider refused nothing and gave the model nothing twice.
pub(crate) fn assert_clean(provider: &StrictProvider, case: &str) {
    assert_eq!(provider.refusals(), [], "{case}");
    assert_eq!(provider.duplicates(), [], "{case}");
}

/// The number of user messages with this text in the last input of the model.
pub(crate) fn last_input_count(provider: &StrictProvider, text: &str) -> usize {
    let turns = provider.turns();
    let input = turns.last().and_then(|turn| turn.model_input.clone()).unwrap_or_default();
    let is_it = |item: &&Value| {
        item["role"] == "user" && (item["content"] == text || item["content"][0]["text"] == text)
    };
    input.iter().filter(is_it).count()
}

/// Checks that each tool ran once, with the output that the model read, or that the model read
/// that its outcome is unknown, or that it did not run.
///
/// `effects` are the calls whose tools had their effect: `NAME CALL_ID`.
pub(crate) fn assert_effects(provider: &StrictProvider, effects: &[String], case: &str) {
    let ran = assert_ran_once(effects, case);
    for (call_id, outputs) in outputs(provider) {
        assert_eq!(outputs.len(), 1, "{case}: the output of {call_id} changed: {outputs:?}");
        let output = outputs.first().unwrap();
        let has_run = ran.contains(call_id.as_str());
        let is_honest = match output.as_str() {
            "found" | "paid" => has_run,
            "Transferred to expert." => !has_run,
            text if text.contains(UNKNOWN) => true,
            text => text.contains("before this call was executed") && !has_run,
        };
        assert!(is_honest, "{case}: {call_id} has run: {has_run}, and its output is {output}");
    }
}

/// Checks that no tool ran twice for a call. Returns the ids of the calls.
pub(crate) fn assert_ran_once<'a>(effects: &'a [String], case: &str) -> BTreeSet<&'a str> {
    let ran: BTreeSet<&str> = effects.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(ran.len(), effects.len(), "{case}: a tool ran twice: {effects:?}");
    ran
}

/// The number of calls whose outcome the model read as unknown.
pub(crate) fn count_unknown(provider: &StrictProvider) -> usize {
    let is_unknown = |outputs: &&BTreeSet<String>| outputs.iter().any(|it| it.contains(UNKNOWN));
    outputs(provider).values().filter(is_unknown).count()
}

/// The outputs of each call in all inputs of the model.
fn outputs(provider: &StrictProvider) -> BTreeMap<String, BTreeSet<String>> {
    let mut outputs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let inputs = provider.turns().into_iter().filter_map(|turn| turn.model_input);
    for item in inputs.flatten().filter(|item| item["type"] == "function_call_output") {
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        outputs.entry(text("call_id")).or_default().insert(text("output"));
    }
    outputs
}
