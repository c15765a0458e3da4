//! The questions, and the settings that follow from the answers.

use std::io::{BufRead, Read as _, Write};

use antiphon::IdSource as _;
use antiphon_gateway::entropy::RandomIds;
use antiphon_gateway::settings::KeyHash;

use crate::failure::Failure;
use crate::settings::{self, Chosen};

/// A question, and the settings of each answer.
struct Question {
    text: &'static str,
    default: &'static str,
    parse: fn(&str, &mut Answers),
}

const QUESTIONS: [Question; 3] = [
    Question {
        text: "Which model server? openai, anthropic, none (only the built-in model sim), or a \
               base URL and its API, such as http://127.0.0.1:11434/v1 chat",
        default: "none",
        parse: Answers::set_upstream,
    },
    Question {
        text: "Where are conversations stored? sqlite:PATH, postgres://USER:PASSWORD@HOST/NAME, or \
               memory (until the gateway stops)",
        default: "sqlite:antiphon.db",
        parse: Answers::set_store,
    },
    Question {
        text: "Who may connect? local (programs of this machine), tokens (other machines, with \
               tokens that the upstream accepts), or key (other machines, with a new API key)",
        default: "local",
        parse: Answers::set_callers,
    },
];

/// The settings that follow from the answers.
#[derive(Clone, Default)]
pub(super) struct Answers {
    pub(super) chosen: Chosen,
    /// The API key of callers. The file has only its hash.
    pub(super) key: Option<String>,
    /// Whether the gateway needs the key of its upstream in the environment.
    pub(super) needs_upstream_key: bool,
}

impl Answers {
    /// The settings of the default answers.
    pub(super) fn defaults() -> Self {
        let mut answers = Self::default();
        for question in &QUESTIONS {
            (question.parse)(question.default, &mut answers);
        }
        answers
    }

    /// Asks all questions. Repeats a question until its answer gives settings that a gateway
    /// accepts.
    pub(super) fn ask(input: &mut impl BufRead, output: &mut impl Write) -> Result<Self, Failure> {
        let mut answers = Self::default();
        for question in &QUESTIONS {
            answers = answers.ask_one(question, input, output)?;
        }
        Ok(answers)
    }

    fn ask_one(
        &self,
        question: &Question,
        input: &mut impl BufRead,
        output: &mut impl Write,
    ) -> Result<Self, Failure> {
        loop {
            let prompt = write!(output, "{}\n[{}] ", question.text, question.default);
            prompt.and_then(|()| output.flush()).map_err(|error| terminal_failure(&error))?;
            let answer = read_line(input)?;
            let answer = if answer.is_empty() { question.default } else { &answer };
            let mut answers = self.clone();
            (question.parse)(answer, &mut answers);
            match answers.check() {
                Ok(()) => return Ok(answers),
                Err(failure) => {
                    let written = writeln!(output, "{}", without_place(&failure.to_string()));
                    written.map_err(|error| terminal_failure(&error))?;
                }
            }
        }
    }

    /// Checks the settings with the loader of `serve`. The key of the upstream counts as set.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let environment = |name: &str| {
            let is_set = name == UPSTREAM_KEY && self.needs_upstream_key;
            Ok(is_set.then(|| "set-before-the-start".to_owned()))
        };
        settings::check_file(FILE, &settings::template(&self.chosen), environment)
    }

    fn set_upstream(answer: &str, answers: &mut Self) {
        let (url, api) =
            match answer.split_once(' ').map_or((answer, ""), |(url, api)| (url, api.trim())) {
                ("none", "") => return,
                ("openai", "") => ("https://api.openai.com/v1", ""),
                ("anthropic", "") => ("https://api.anthropic.com/v1", "anthropic"),
                other => other,
            };
        answers.choose("upstream", url);
        if !api.is_empty() {
            answers.choose("upstream-api", api);
        }
    }

    fn set_store(answer: &str, answers: &mut Self) {
        let url = if answer == "memory" { "sqlite::memory:" } else { answer };
        answers.choose("store", url);
    }

    /// Any answer but the three names becomes the address, which the loader judges.
    fn set_callers(answer: &str, answers: &mut Self) {
        match answer {
            "local" => answers.choose("listen", "127.0.0.1:8484"),
            "tokens" => answers.choose("listen", "0.0.0.0:8484"),
            "key" => {
                let key = RandomIds.issue("ak");
                answers.choose("listen", "0.0.0.0:8484");
                answers.choose("api-keys", &format!("{}=default", KeyHash::from_key(&key)));
                answers.key = Some(key);
                answers.needs_upstream_key =
                    answers.chosen.iter().any(|(key, _)| *key == "upstream");
            }
            other => answers.choose("listen", other),
        }
    }

    fn choose(&mut self, key: &'static str, value: &str) {
        self.chosen.push((key, value.to_owned()));
    }
}

/// The variable with the key of the upstream.
pub(super) const UPSTREAM_KEY: &str = "ANTIPHON_UPSTREAM_KEY";

/// The name of the file in an error of the loader.
const FILE: &str = "antiphon.toml";

/// The error without the line of a file that does not exist yet.
fn without_place(error: &str) -> &str {
    let rest = error.strip_prefix(FILE).and_then(|rest| rest.split_once(' '));
    rest.map_or(error, |(_, sentence)| sentence)
}

/// The maximum length of an answer, in bytes.
const LONGEST: u64 = 4096;

fn read_line(input: &mut impl BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    let read = input.take(LONGEST).read_line(&mut line);
    match read.map_err(|error| terminal_failure(&error))? {
        0 => Err(Failure::usage(
            "standard input ended before the last answer; answer the questions on a terminal, or \
             give --yes for the defaults",
        )),
        _ => Ok(line.trim().to_owned()),
    }
}

fn terminal_failure(error: &std::io::Error) -> Failure {
    Failure::runtime(format!("the questions cannot be asked: {error}"))
}
