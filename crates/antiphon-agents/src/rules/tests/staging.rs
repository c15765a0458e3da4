//! Tests of input that is staged while a run is paused.

use crate::rules::Staging;
use antiphon::item::given::{item, user};
use antiphon::tracker::RunFinished;

#[test]
fn staged_items_keep_their_bytes() {
    let odd = r#"{"role" : "user","content":"h\u0069","x":1e2}"#;
    let mut staging = Staging::default();
    staging.stage(item(odd)).unwrap();
    let json = serde_json::to_string(&staging).unwrap();
    let restored: Staging = serde_json::from_str(&json).unwrap();
    assert_eq!(restored.waiting()[0].text(), odd);
}

#[test]
fn staged_item_is_taken_once_and_none_is_staged_after_the_run() {
    let mut staging = Staging::default();
    staging.stage(user("hurry")).unwrap();
    assert_eq!(staging.take(), [user("hurry")]);
    assert_eq!(staging.take(), []);
    staging.finish();
    assert_eq!(staging.stage(user("late")), Err(RunFinished));
    assert_eq!(staging.waiting(), []);
}
