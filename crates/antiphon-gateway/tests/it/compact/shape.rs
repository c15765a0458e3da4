//! The shape of a compacted history, as the Open Responses specification has it.

use serde_json::{Value, json};

const DOCUMENT: &str = include_str!("../../../../../tests/schema/open-responses.json");

/// It is a `CompactResource`.
pub(super) fn assert_compaction_shape(compacted: &Value) {
    let document: Value = serde_json::from_str(DOCUMENT).expect("it is JSON");
    let schema = json!({
        "$ref": "#/components/schemas/CompactResource",
        "components": document["components"],
    });
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> = validator.iter_errors(compacted).map(|it| it.to_string()).collect();
    assert!(errors.is_empty(), "{compacted} is not valid: {errors:#?}");
}
