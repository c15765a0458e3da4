mod ai_sdk;
mod langchain;
mod recognizing;

use bytes::Bytes;
use serde_json::Value;

use super::*;

/// Imports `list` without a system prompt.
fn imported(list: &Value) -> Imported {
    let list = Bytes::from(list.to_string());
    import(&list, HistoryForm::Responses, None).unwrap_or_else(|error| panic!("{error}"))
}

fn form(list: &Value) -> HistoryForm {
    imported(list).form
}

fn refusal(list: &Value) -> String {
    let list = Bytes::from(list.to_string());
    import(&list, HistoryForm::Responses, None).unwrap_err().to_string()
}

fn values(imported: &Imported) -> Vec<Value> {
    imported.items.iter().map(|item| serde_json::from_slice(item.raw()).unwrap()).collect()
}
