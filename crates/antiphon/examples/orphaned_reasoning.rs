//! `Item 'rs_…' of type 'reasoning' was provided without its required following item`: a stream was
//! cut short, and only its reasoning stayed in the history.

use antiphon::item::parse_items;
use antiphon::repair::{check, filter_orphaned_reasoning};

pub(crate) fn main() {
    let history = r#"[
        {"role": "user", "content": "Hello"},
        {"type": "reasoning", "id": "rs_cut", "summary": []},
        {"role": "user", "content": "Are you there?"}
    ]"#;
    let items = parse_items(&history.into()).expect("the text above is a list of items");
    for (position, fault) in check(&items) {
        println!("item {position}: {}", fault.refusal(position).message);
    }

    let filtered = filter_orphaned_reasoning(&items);

    assert_eq!(filtered.items, [items[0].clone(), items[2].clone()]);
    assert!(check(&filtered.items).is_empty());
}
