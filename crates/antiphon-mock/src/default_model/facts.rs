//! Facts about a color and a dog in the user's messages.

const TOPICS: [&str; 2] = ["color", "dog"];

/// Answers the questions about a color or a dog in `message`, from all user messages. `None` if it
/// has no such question.
///
/// Unknown facts are left out, so a lost message shows. The latest statement on a topic counts.
pub(super) fn answer(message: &str, user_texts: &[&str]) -> Option<String> {
    let questions: Vec<&str> = sentences(message).filter(|it| is_question(it)).collect();
    let is_asked = |topic: &&str| questions.iter().any(|it| lower(it).contains(*topic));
    let asked: Vec<&str> = TOPICS.into_iter().filter(is_asked).collect();
    if asked.is_empty() {
        return None;
    }
    let facts: Vec<&str> = asked.iter().filter_map(|topic| fact(topic, user_texts)).collect();
    Some(if facts.is_empty() { "I do not know.".to_owned() } else { facts.join(", ") })
}

fn fact<'a>(topic: &str, user_texts: &[&'a str]) -> Option<&'a str> {
    let statements =
        user_texts.iter().flat_map(|text| sentences(text)).filter(|it| !is_question(it));
    statements.filter_map(|statement| find_statement(topic, statement)).last()
}

/// The `X` of `<topic> is X`, up to a comma, a semicolon, an `and` or the end of the sentence.
fn find_statement<'a>(topic: &str, statement: &'a str) -> Option<&'a str> {
    let marker = format!("{topic} is ");
    let value = &statement[lower(statement).find(&marker)? + marker.len()..];
    let end = [",", ";", " and "].iter().filter_map(|stop| lower(value).find(stop)).min();
    let value = &value[..end.unwrap_or(value.len())];
    Some(value.trim().trim_end_matches(['.', '!'])).filter(|value| !value.is_empty())
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n'])
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with('?')
}

/// The lower-case text, with the same byte offsets.
fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}
