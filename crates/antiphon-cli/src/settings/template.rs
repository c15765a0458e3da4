//! A settings file for an operator to edit. Its comments are the help of the options.

use std::fmt::Write as _;

use super::catalog;
use super::flags::Environment;
use super::setting::{Flag, Form, Setting};
use crate::failure::Failure;
use crate::one_line::quote;

/// The values of settings in the file, by key. A list has one entry.
pub(crate) type Chosen = Vec<(&'static str, String)>;

const HEAD: &str = "\
# The settings of `antiphon serve`. An environment variable overrides the file, and an option
# overrides both. A setting after # has its default. `antiphon serve --check` checks the file.
";

const TAIL: &str = "
# Further limits, several upstreams ([[upstreams]]), webhooks ([[webhooks]]) and prices
# ([prices.MODEL]) can also be set here: see docs/settings.md.
";

/// The width of a comment.
const WIDTH: usize = 98;

/// The text of a settings file with all settings that have an option. Those in `chosen` have a
/// value, the others are comments.
pub(crate) fn template(chosen: &Chosen) -> String {
    let settings = catalog::settings();
    let (limits, general): (Vec<_>, Vec<_>) = settings.iter().partition(|it| it.is_limit);
    let general: String = general.into_iter().filter_map(|it| entry(it, chosen)).collect();
    let limits: String = limits.into_iter().filter_map(|it| entry(it, chosen)).collect();
    format!("{HEAD}{general}\n[limits]\n{limits}{TAIL}")
}

/// Checks that a gateway accepts a settings file with this text.
pub(crate) fn check_file(
    name: &str,
    text: &str,
    environment: impl Environment,
) -> Result<(), Failure> {
    let file = super::File::parse(name, text)?;
    super::merge(super::SettingsArgs::default(), environment, file, &[]).map(drop)
}

fn entry<C>(setting: &Setting<C>, chosen: &Chosen) -> Option<String> {
    let flag = setting.flag?;
    let mut entry = String::from("\n");
    for line in wrap(flag.help) {
        writeln!(entry, "# {line}").expect("a string takes all text");
    }
    let key = setting.key;
    let value = chosen.iter().find(|(chosen, _)| *chosen == key).map(|(_, value)| value);
    let line = match value {
        Some(value) => format!("{key} = {}\n", written(setting.form, value)),
        None => format!("# {key} = {}\n", example(setting.form, flag)),
    };
    Some(entry + &line)
}

/// A value in the form of the file.
fn written(form: Form, text: &str) -> String {
    match form {
        Form::Text => quote(text),
        Form::List { .. } => format!("[{}]", quote(text)),
        Form::IntegerOrText if text.bytes().any(|byte| !byte.is_ascii_digit()) => quote(text),
        Form::Integer | Form::IntegerOrText | Form::Boolean | Form::Decimal => text.to_owned(),
    }
}

/// The default, or the name of the value if there is none.
fn example(form: Form, flag: Flag) -> String {
    let default = flag.help.split_once("[default: ").map(|(_, rest)| rest.trim_end_matches(']'));
    let default = default.filter(|text| !text.contains(' ') && *text != "unlimited");
    match default {
        Some(default) => written(form, default),
        None if matches!(form, Form::Text | Form::List { .. }) => written(form, flag.value_name),
        None => flag.value_name.to_owned(),
    }
}

/// The lines of a text of one paragraph.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        match line.len() {
            0 => line.push_str(word),
            length if length + 1 + word.len() <= WIDTH => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "an environment may fail")]
    fn no_variable(_: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    #[test]
    fn every_option_has_its_help_and_an_example() {
        let text = template(&Vec::new());
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let comments = words(&text.replace("\n# ", " "));
        for setting in catalog::settings() {
            let Some(flag) = setting.flag else { continue };
            assert!(comments.contains(&words(flag.help)), "{}", setting.key);
            assert!(text.contains(&format!("\n# {} = ", setting.key)), "{}", setting.key);
        }
        assert!(text.contains("\n# turn-wait = 30\n"), "{text}");
        assert!(text.contains("\n# retention = 30\n"), "{text}");
        assert!(text.contains("\n# inspect-writes = false\n"), "{text}");
        assert!(text.contains("\n# api-keys = [\"KEY=TENANT\"]\n"), "{text}");
        check_file("antiphon.toml", &text, no_variable).unwrap();
    }

    #[test]
    fn defaults_are_accepted_without_the_comment_signs() {
        let text = template(&Vec::new());
        let has_default = |line: &&str| {
            let setting = line.strip_prefix("# ").and_then(|line| line.split_once(" = "));
            setting.is_some_and(|(key, value)| {
                !value.contains(|c: char| c.is_ascii_uppercase()) && !needs_upstream(key)
            })
        };
        let lines: Vec<&str> = text.lines().filter(has_default).map(|line| &line[2..]).collect();
        assert!(lines.len() > 8, "{lines:?}");
        for line in lines {
            let is_limit = catalog::settings().iter().any(|setting| {
                setting.is_limit && line.starts_with(&format!("{} = ", setting.key))
            });
            let table = if is_limit { "[limits]\n" } else { "" };
            check_file("antiphon.toml", &format!("{table}{line}\n"), no_variable).unwrap();
        }
    }

    /// Whether a gateway without an upstream rejects the setting, even with its default.
    fn needs_upstream(key: &str) -> bool {
        ["upstream-api", "reasoning-as", "ledger"].contains(&key)
    }

    #[test]
    fn values_are_quoted() {
        let chosen = vec![("store", "sqlite:a \"b\"\\c.db".to_owned())];
        let text = template(&chosen);
        assert!(text.contains("\nstore = \"sqlite:a \\\"b\\\"\\\\c.db\"\n"), "{text}");
        check_file("antiphon.toml", &text, no_variable).unwrap();
    }
}
