//! `include` and `top_logprobs`.

use super::body::Body;
use super::report::Report;
use crate::dialect::request::RequestPath;
use crate::json::Object;

const LOGPROBS: &str = "message.output_text.logprobs";
/// Reasoning is always included: the decoder seals it.
const REASONING: &str = "reasoning.encrypted_content";

/// Writes `logprobs` and `top_logprobs`. Servers accept the second only with the first.
pub(super) fn encode(request: &Object<'_>, body: &mut Body, report: &mut Report) {
    let includes = request.present("include").and_then(|raw| serde_json::from_str(raw).ok());
    let includes: Vec<String> = includes.unwrap_or_default();
    let top = request.present("top_logprobs").filter(|top| *top != "0");
    if top.is_some() || includes.iter().any(|include| include == LOGPROBS) {
        body.raw("logprobs", "true");
    }
    body.present("top_logprobs", top);
    for (position, include) in includes.iter().enumerate() {
        if !matches!(&**include, LOGPROBS | REASONING) {
            let place = RequestPath::field(format!("include[{position}]"));
            report.leave_out(place, "its answers do not contain this");
        }
    }
}
