//! The rules of the model, in their order.

use super::context::{Context, Returned};
use super::evidence::{Evidence, MOST_SAID};
use super::item::{Part, attachments, text_of};
use super::mention::{Mention, mentions};
use super::phrases::{
    asks_for_context, asks_for_summary, count, find_dictation, show, summarize, summary_in,
};
use super::recall::{asks_what_happened, is_question, recall};
use super::reply::Reply;
use super::request::Request;
use super::style::Style;
use super::text::shorten;
use super::tools::{Callable, Input, Tool};
use super::{SimError, arguments};

/// The maximum number of calls in one answer.
const MOST_CALLS: usize = 32;

/// The content of one answer.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    Calls(Vec<Call<'a>>),
    Reply(Reply),
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) tool: &'a Tool,
    /// The arguments of a function as JSON text, or the input of a custom tool.
    pub(super) input: String,
}

/// Applies the first rule that fits.
pub(super) fn decide<'a>(request: &'a Request<'_>) -> Result<Turn<'a>, SimError> {
    let context = &request.context;
    let callable = Callable::select(&request.tools, &request.choice, request.parallel_tool_calls)?;
    let asked = text_of(context.last_user_message());
    if callable.forced {
        return force_calls(&asked, &callable).map(Turn::Calls);
    }
    let returned = context.just_returned();
    if !returned.is_empty() {
        return Ok(Turn::Reply(report(&returned).in_style(Style::from_context(context))));
    }
    if asks_for_summary(&asked) {
        return Ok(Turn::Reply(Reply::new(summarize(context))));
    }
    if let Some(summary) = summary_in(&asked) {
        return Ok(Turn::Reply(Reply::new(summary)));
    }
    if asks_for_context(&asked) {
        return Ok(Turn::Reply(Reply::new(show(context))));
    }
    let calls =
        if asks_what_happened(&asked) { Vec::new() } else { choose_calls(&asked, &callable)? };
    if calls.is_empty() { Ok(Turn::Reply(speak(&asked, context))) } else { Ok(Turn::Calls(calls)) }
}

/// A call of every tool that the text names, or of the first tool if it names none.
fn force_calls<'a>(asked: &str, callable: &Callable<'a>) -> Result<Vec<Call<'a>>, SimError> {
    let named = choose_calls(asked, callable)?;
    match callable.tools.first() {
        Some(first) if named.is_empty() => Ok(vec![Call::new(first, Evidence::whole(asked))?]),
        _ => Ok(named),
    }
}

/// A call of every tool that the text names.
fn choose_calls<'a>(asked: &str, callable: &Callable<'a>) -> Result<Vec<Call<'a>>, SimError> {
    let most = if callable.single { 1 } else { MOST_CALLS };
    mentions(asked, &callable.tools)
        .into_iter()
        .take(most)
        .map(|Mention { tool, evidence }| Call::new(tool, evidence))
        .collect()
}

impl<'a> Call<'a> {
    fn new(tool: &'a Tool, evidence: Evidence<'_>) -> Result<Self, SimError> {
        let input = match &tool.input {
            Input::Text => {
                let said = evidence.quote(0).unwrap_or_else(|| evidence.text());
                said.chars().take(MOST_SAID).collect()
            }
            Input::Arguments(schema) => match (evidence.json_object(), schema) {
                (Some(given), _) => given.to_string(),
                (None, None) => "{}".to_owned(),
                (None, Some(schema)) => {
                    let subject = || format!("function '{}'", tool.name);
                    arguments::from_parameters(schema, evidence, subject)?.to_string()
                }
            },
        };
        Ok(Self { tool, input })
    }
}

/// The outputs as an answer, as in `echo returned: hello; get_weather returned: sunny`.
fn report(returned: &[Returned]) -> Reply {
    let each: Vec<String> = returned.iter().map(Returned::sentence).collect();
    Reply::new(each.join("; "))
}

/// The answer to a user who asks for no call.
fn speak(asked: &str, context: &Context) -> Reply {
    match find_dictation(context) {
        Some(sentence) => Reply::new(sentence),
        None => answer_freely(asked, context).in_style(Style::from_context(context)),
    }
}

/// The answer if the context dictates none.
fn answer_freely(asked: &str, context: &Context) -> Reply {
    let message = context.last_user_message();
    if context.user_messages().next().is_none() {
        Reply::new("I was given no user message.")
    } else if !attachments(message).is_empty() {
        Reply::new(describe_attachments(message))
    } else if let Some(counted) = count(asked) {
        Reply::new(counted)
    } else if is_question(asked) {
        Reply::new(recall(asked, context))
    } else {
        Reply::acknowledge(asked)
    }
}

/// The answer to a message with attachments:
/// `I was given an image (image/png, detail auto), with: What is this?`
fn describe_attachments(message: &[Part]) -> String {
    let given = attachments(message).join(" and ");
    match shorten(&text_of(message), 80) {
        text if text.is_empty() => format!("I was given {given}."),
        text => format!("I was given {given}, with: {text}"),
    }
}
