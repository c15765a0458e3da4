//! How many tokens a request is.

use antiphon::Item;
use antiphon::json::Object;

/// An estimate of the input tokens of a request: `fields` are all of its fields but the input,
/// `view` the items that the model is given. What a model's server adds around them is not known
/// here.
pub(crate) fn estimate(fields: &Object<'_>, view: &[Item]) -> u64 {
    let counted = ["instructions", "tools", "text"];
    let fields = counted.into_iter().filter_map(|key| fields.present(key));
    let items = view.iter().map(Item::text);
    fields.chain(items).map(tokens_of).sum()
}

fn tokens_of(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}
