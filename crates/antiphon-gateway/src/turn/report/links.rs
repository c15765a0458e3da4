//! The links of a report to the pages of its faults. A reader of the report gets them; they are not
//! stored.

use antiphon::json::{Object, quote};
use bytes::Bytes;

use crate::fault_pages;

/// The report for callers: each repair, and the state error of the upstream, has the path of its
/// page in the field `page`.
pub(crate) fn link_faults(report: &Bytes) -> Bytes {
    let Ok(mut fields) = Object::parse(report) else { return report.clone() };
    if let Some(repairs) = fields.present("repairs").and_then(link_repairs) {
        fields.set("repairs", repairs);
    }
    if let Some(error) = fields.present("relearned").and_then(link_fault) {
        fields.set("relearned", error);
    }
    fields.to_bytes()
}

fn link_repairs(array: &str) -> Option<String> {
    let repairs: Vec<&serde_json::value::RawValue> = serde_json::from_str(array).ok()?;
    let linked = repairs.iter().map(|it| link_fault(it.get()).unwrap_or_else(|| it.get().into()));
    Some(format!("[{}]", linked.collect::<Vec<String>>().join(",")))
}

/// The object with a `fault`, with the path of the fault's page. `None` if there is no page.
fn link_fault(raw: &str) -> Option<String> {
    let mut object = Object::parse_str(raw).ok()?;
    let path = fault_pages::path(&object.string("fault")?)?;
    object.set("page", quote(&path));
    Some(object.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_with_a_page_are_linked() {
        let report = Bytes::from_static(
            br#"{"repairs":[{"fault":"used_id","n":1.50},{"fault":"no_such"}],"stream":[]}"#,
        );
        let linked = link_faults(&report);
        let expected = concat!(
            r#"{"repairs":[{"fault":"used_id","n":1.50,"page":"/faults/used_id"},"#,
            r#"{"fault":"no_such"}],"stream":[]}"#,
        );
        assert_eq!(linked, expected.as_bytes());
    }

    #[test]
    fn report_without_faults_keeps_its_bytes() {
        let report = Bytes::from_static(br#"{"object":"antiphon.report","repairs":[]}"#);
        assert_eq!(link_faults(&report), report);
    }
}
