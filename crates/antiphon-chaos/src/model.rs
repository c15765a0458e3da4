//! The model of the fake provider. It follows the instruction in the last item of its input and
//! marks its output.

use antiphon_mock::Answer;
use serde_json::Value;

use crate::mark::Mark;

/// The instruction of a turn to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// A short message.
    Short,
    /// A message of many words.
    Long,
    /// Two messages.
    Two,
    /// Reasoning and a call.
    Call,
    /// Reasoning and two calls.
    Calls,
    /// A message, and another one in which the connection breaks.
    Break,
}

/// All plans; the common ones occur several times.
pub(crate) const PLANS: [Plan; 10] = [
    Plan::Short,
    Plan::Short,
    Plan::Long,
    Plan::Long,
    Plan::Two,
    Plan::Two,
    Plan::Call,
    Plan::Call,
    Plan::Calls,
    Plan::Break,
];

/// The model of all requests. It reasons.
pub(crate) const MODEL: &str = "fake-model";
/// The name of the only tool.
pub(crate) const TOOL: &str = "echo";

impl Plan {
    /// The word for the plan in a request.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Short => "plan-short",
            Self::Long => "plan-long",
            Self::Two => "plan-two",
            Self::Call => "plan-call",
            Self::Calls => "plan-several-calls",
            Self::Break => "plan-break",
        }
    }

    /// The number of output items.
    pub(crate) fn outputs(self) -> usize {
        match self {
            Self::Short | Self::Long => 1,
            Self::Two | Self::Call | Self::Break => 2,
            Self::Calls => 3,
        }
    }

    fn in_text(text: &str) -> Self {
        PLANS.into_iter().find(|plan| text.contains(plan.word())).unwrap_or(Self::Short)
    }
}

/// A request to the model.
pub(crate) struct ModelRequest {
    /// The marks of the model's input, in order.
    pub(crate) model_input: Vec<Mark>,
    /// The instruction.
    pub(crate) plan: Plan,
}

impl ModelRequest {
    /// Reads a request. `None` if no item of its input has a mark.
    pub(crate) fn parse(request: &Value) -> Option<Self> {
        let items = request["input"].as_array()?;
        let marked: Vec<_> = items
            .iter()
            .filter_map(|item| {
                let text = item.to_string();
                Some((Mark::in_text(&text)?, text))
            })
            .collect();
        let plan = Plan::in_text(&marked.last()?.1);
        Some(Self { model_input: marked.into_iter().map(|(mark, _)| mark).collect(), plan })
    }

    /// The last mark, which belongs to the requesting turn.
    pub(crate) fn mark(&self) -> Mark {
        *self.model_input.last().expect("there is a marked item")
    }

    /// The model's answer.
    pub(crate) fn answer(&self, request: &Value) -> Answer {
        let Mark { turn, part } = self.mark();
        let mark = |nth: usize| Mark::new(turn, usize::from(part) + 1 + nth);
        let answer = Answer::new(MODEL).request(request).seed(request["input"].to_string());
        let call =
            |nth: usize| (format!("call_{turn}_{nth}"), format!(r#"{{"text":"{}"}}"#, mark(nth)));
        let with_call = |answer: Answer, nth: usize| {
            let (call_id, arguments) = call(nth);
            answer.call(call_id, TOOL, arguments)
        };
        match self.plan {
            Plan::Short => answer.message(format!("{} is noted.", mark(0))),
            Plan::Long => answer.message(format!("{} {}", mark(0), "and on and on ".repeat(4))),
            Plan::Two | Plan::Break => answer
                .message(format!("{} is one.", mark(0)))
                .message(format!("{} is another one of two.", mark(1))),
            Plan::Call => with_call(answer.reasoning(format!("{} needs a call.", mark(0))), 1),
            Plan::Calls => {
                let answer = answer.reasoning(format!("{} needs two.", mark(0)));
                with_call(with_call(answer, 1), 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn model_continues_the_numbering() {
        for plan in PLANS {
            let said = format!("{} {}", Mark::new(7, 2), plan.word());
            let request = json!({"input": [{"role": "user", "content": said}]});
            let model_request = ModelRequest::parse(&request).unwrap();
            assert_eq!((model_request.plan, model_request.mark()), (plan, Mark::new(7, 2)));
            let output = model_request.answer(&request).output();
            let marks: Vec<_> =
                output.iter().filter_map(|item| Mark::in_text(&item.to_string())).collect();
            let expected: Vec<_> = (3..3 + plan.outputs()).map(|part| Mark::new(7, part)).collect();
            assert_eq!(marks, expected, "{plan:?}");
        }
    }
}
