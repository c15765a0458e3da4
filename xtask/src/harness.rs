//! Programs that users run do not contain the test harness: outside of the harness, only a
//! development dependency may name one of its crates.

use serde_json::Value;

use crate::workspace;

/// The crates that only tests use.
const HARNESS: [&str; 3] = ["antiphon-chaos", "antiphon-testkit", "xtask"];

/// The faults of all manifests, each as `path:line: sentence`.
pub(crate) fn check() -> anyhow::Result<Vec<String>> {
    Ok(faults(&workspace::metadata()?))
}

/// The faults in the output of `cargo metadata`. Direct dependencies suffice: a crate that reaches
/// the harness through others contains a crate that names it.
fn faults(metadata: &Value) -> Vec<String> {
    let shipped = list(&metadata["packages"]).filter(|package| !is_harness(&package["name"]));
    let faults = shipped.flat_map(|package| {
        let contained = list(&package["dependencies"])
            .filter(|it| it["kind"] != "dev" && is_harness(&it["name"]))
            .filter_map(|it| it["name"].as_str());
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        contained.map(move |name| {
            format!("{manifest}:1: `{name}` is a test harness; make it a development dependency")
        })
    });
    faults.collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is_harness(name: &Value) -> bool {
    HARNESS.iter().any(|harness| name == harness)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(from: &str, to: &str, kind: Option<&str>) -> Value {
        let dependency = json!({"name": to, "kind": kind});
        let package = json!({"name": from, "manifest_path": "m", "dependencies": [dependency]});
        json!({"packages": [package]})
    }

    #[test]
    fn shipped_crate_may_use_harness_in_tests_only() {
        let fault = "m:1: `antiphon-testkit` is a test harness; make it a development dependency";
        for (kind, expected) in
            [(None, vec![fault]), (Some("build"), vec![fault]), (Some("dev"), vec![])]
        {
            assert_eq!(faults(&metadata("antiphon-cli", "antiphon-testkit", kind)), expected);
        }
    }

    #[test]
    fn harness_may_use_harness_and_product() {
        assert_eq!(faults(&metadata("antiphon-chaos", "antiphon-testkit", None)), [""; 0]);
        assert_eq!(faults(&metadata("antiphon-cli", "antiphon-mock", None)), [""; 0]);
    }
}
