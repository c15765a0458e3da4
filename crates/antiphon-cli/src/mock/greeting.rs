//! The greeting that `mock` prints at startup.

use std::fmt;

/// The base URL and a first request to it, ready to paste.
pub(super) struct Greeting {
    pub(super) base_url: String,
    pub(super) is_strict: bool,
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = &self.base_url;
        let root = base_url.trim_end_matches("/v1");
        let behavior = match self.is_strict {
            true => "A strict provider: it rejects the requests that OpenAI would reject.",
            false => "A lenient provider: its model receives resent items twice (see /log).",
        };
        write!(
            f,
            "
{behavior}

Base URL: {base_url}

  curl {base_url}/responses -H 'Authorization: Bearer any' \\
    -H 'Content-Type: application/json' \\
    -d '{{\"model\": \"any\", \"input\": \"My color is purple\"}}'

or in Python:

  from openai import OpenAI

  client = OpenAI(base_url=\"{base_url}\", api_key=\"any\")

The input of the model: curl {root}/log
"
        )
    }
}
