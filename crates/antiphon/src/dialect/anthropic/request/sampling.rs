//! `temperature` and `top_p`.

use super::model::Model;
use super::report::Report;
use crate::dialect::request::RequestPath;
use crate::json::Object;

/// The sampling parameters. They are optional: a value that the model would reject is left out or
/// changed, and reported.
///
/// - A model that rejects both parameters gets neither; nor does a request with thinking.
/// - A model that takes one parameter gets `temperature`.
/// - A `temperature` above 1, Anthropic's maximum, is sent as 1.
///
/// A value of 1 is the default, so leaving it out is not reported.
#[derive(Default)]
pub(super) struct Sampling {
    temperature: Option<String>,
    top_p: Option<String>,
}

impl Sampling {
    pub(super) fn from_fields(
        fields: &Object<'_>,
        model: &Model,
        thinks: bool,
        report: &mut Report,
    ) -> Self {
        let mut sampling = Self {
            temperature: temperature(fields, report),
            top_p: fields.present("top_p").map(str::to_owned),
        };
        if !model.allows_sampling() {
            sampling.leave_out_all("this Anthropic model rejects it", report);
        } else if thinks {
            sampling.leave_out_all("the Anthropic Messages API rejects it with thinking", report);
        } else if sampling.temperature.is_some() && !model.allows_both_sampling_fields() {
            let why = "this Anthropic model rejects it together with 'temperature'";
            leave_out("top_p", sampling.top_p.take(), why, report);
        }
        sampling
    }

    pub(super) fn write(self, body: &mut Object<'_>) {
        for (field, raw) in [("temperature", self.temperature), ("top_p", self.top_p)] {
            if let Some(raw) = raw {
                body.set(field, raw);
            }
        }
    }

    fn leave_out_all(&mut self, why: &str, report: &mut Report) {
        leave_out("temperature", self.temperature.take(), why, report);
        leave_out("top_p", self.top_p.take(), why, report);
    }
}

fn temperature(fields: &Object<'_>, report: &mut Report) -> Option<String> {
    let raw = fields.present("temperature")?;
    if raw.parse().is_ok_and(|value: f64| value > 1.0) {
        let how = "the Anthropic Messages API takes temperatures from 0 to 1; 1 is sent";
        report.change(RequestPath::field("temperature"), how);
        return Some("1".to_owned());
    }
    Some(raw.to_owned())
}

fn leave_out(field: &str, raw: Option<String>, why: &str, report: &mut Report) {
    let is_default = |raw: &String| raw.parse::<f64>().is_ok_and(|value| value >= 1.0);
    if raw.is_some_and(|raw| !is_default(&raw)) {
        report.leave_out(RequestPath::field(field), why);
    }
}
