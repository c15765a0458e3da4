//! `temperature` and `top_p`.

use super::model::Model;
use super::report::Report;
use crate::dialect::request::Place;
use crate::json::Object;

/// How the model's words are drawn. The model can do without these wishes: what it refuses is left
/// out and reported, and so are never sent:
///
/// - any of them at models that refuse both, and beside thinking;
/// - `top_p` beside `temperature`, where a model takes one of them;
/// - the part of a `temperature` above 1, the most that Anthropic has: it goes as 1.
///
/// A value of 1 asks for nothing where it is not sent, for it is the default.
#[derive(Default)]
pub(super) struct Sampling {
    temperature: Option<String>,
    top_p: Option<String>,
}

impl Sampling {
    pub(super) fn of(
        fields: &Object<'_>,
        model: &Model,
        thinks: bool,
        report: &mut Report,
    ) -> Self {
        let mut sampling = Self {
            temperature: temperature(fields, report),
            top_p: fields.present("top_p").map(str::to_owned),
        };
        if !model.takes_sampling() {
            sampling.leave_out_all("this model of Anthropic's refuses it", report);
        } else if thinks {
            sampling.leave_out_all("Anthropic Messages refuse it beside thinking", report);
        } else if sampling.temperature.is_some() && !model.takes_both_samplings() {
            let why = "this model of Anthropic's refuses it beside 'temperature'";
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
        let how = "Anthropic Messages have temperatures from 0 to 1, and it goes as 1";
        report.change(Place::field("temperature"), how);
        return Some("1".to_owned());
    }
    Some(raw.to_owned())
}

fn leave_out(field: &str, raw: Option<String>, why: &str, report: &mut Report) {
    let is_default = |raw: &String| raw.parse::<f64>().is_ok_and(|value| value >= 1.0);
    if raw.is_some_and(|raw| !is_default(&raw)) {
        report.leave_out(Place::field(field), why);
    }
}
