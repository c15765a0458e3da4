//! A store that fails.

use super::secrets::{Discreet, assert_refused, telling};

#[test]
fn failed_write_on_full_disk_does_not_log_content() {
    let gateway = Discreet::on_a_full_disk();
    let mut large = telling();
    large["input"][1]["content"][0]["text"] = "sesame ".repeat(1 << 20).into();

    assert_refused(&gateway.turn(&large, false), 503);
    let streamed = gateway.turn(&large, true);
    assert!(!streamed.contains("response.completed"), "{}", &streamed[..500]);

    gateway.ends_having_told(&["the store failed"]);
}
