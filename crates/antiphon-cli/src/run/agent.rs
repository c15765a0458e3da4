//! The agents, and the way that each learns about the gateway.

use std::ffi::OsString;

use antiphon_gateway::settings::Secret;
use clap::ValueEnum;
use serde_json::json;

use super::gemini;
use crate::failure::Failure;
use crate::one_line::quote;

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Agent {
    /// Codex, over the Responses API
    Codex,
    /// Claude Code, over Anthropic's API
    Claude,
    /// opencode, over the Responses API
    Opencode,
    /// Gemini CLI, over the Gemini API
    Gemini,
}

/// The gateway, as an agent sees it.
pub(super) struct Endpoint {
    /// The URL without `/v1`.
    pub(super) base: String,
    pub(super) key: AgentKey,
    /// The model that the user named, or the only one.
    pub(super) model: Option<String>,
}

/// The key that the agent sends.
#[derive(Clone, Debug)]
pub(super) enum AgentKey {
    /// A key of the gateway.
    Gateway(Secret),
    /// Any text: nobody checks it.
    Any,
    /// The agent's own key, which the gateway forwards, and the variable that has it.
    Own(&'static str),
}

/// A process to start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) program: &'static str,
    pub(super) arguments: Vec<OsString>,
    /// The variables to set.
    pub(super) variables: Vec<(&'static str, String)>,
    /// The variables to remove.
    pub(super) removed: Vec<&'static str>,
}

/// The key of a gateway that checks none.
const ANY_KEY: &str = "antiphon";

/// The variable from which Codex reads the key of the gateway.
const KEY_VARIABLE: &str = "ANTIPHON_AGENT_KEY";

/// The variable with a user's key for Anthropic's servers.
pub(super) const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";

/// The keys of the operator. An agent runs commands of a model, which must not see them.
const OPERATOR_VARIABLES: [&str; 4] =
    ["ANTIPHON_UPSTREAM_KEY", "ANTIPHON_API_KEY", "ANTIPHON_SECRET", "ANTIPHON_METRICS_KEY"];

impl Agent {
    /// The name of the program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
        }
    }

    /// The command that installs the program.
    pub(super) fn install_command(self) -> &'static str {
        match self {
            Self::Codex => "npm install -g @openai/codex",
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
            Self::Opencode => "npm install -g opencode-ai",
            Self::Gemini => "npm install -g @google/gemini-cli",
        }
    }

    /// The process that uses `endpoint`. `args` follow the arguments for the gateway.
    /// `variable` reads the environment.
    pub(super) fn launch(
        self,
        endpoint: &Endpoint,
        args: &[OsString],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Launch, Failure> {
        let mut launch = Launch {
            program: self.program(),
            arguments: Vec::new(),
            variables: Vec::new(),
            removed: OPERATOR_VARIABLES.to_vec(),
        };
        match self {
            Self::Codex => set_codex(&mut launch, endpoint, variable),
            Self::Claude => set_claude(&mut launch, endpoint, variable),
            Self::Opencode => set_opencode(&mut launch, endpoint, variable)?,
            Self::Gemini => gemini::configure(&mut launch, endpoint, variable)?,
        }
        launch.arguments.extend_from_slice(args);
        Ok(launch)
    }
}

/// Codex takes a provider as settings on its command line, which also hold for its subcommands.
fn set_codex(launch: &mut Launch, endpoint: &Endpoint, variable: impl Fn(&str) -> Option<String>) {
    let key_variable = match &endpoint.key {
        AgentKey::Own(name) if variable(name).is_some() => name,
        key => {
            launch.variables.push((KEY_VARIABLE, key.text().to_owned()));
            KEY_VARIABLE
        }
    };
    let provider = [
        ("model_provider", "antiphon"),
        ("model_providers.antiphon.name", "Antiphon"),
        ("model_providers.antiphon.base_url", &format!("{}/v1", endpoint.base)),
        ("model_providers.antiphon.wire_api", "responses"),
        ("model_providers.antiphon.env_key", key_variable),
    ];
    let model = endpoint.model.as_deref().map(|model| ("model", model));
    for (name, value) in provider.into_iter().chain(model) {
        let setting = format!("{name}={}", quote(value));
        launch.arguments.extend(["-c".into(), setting.into()]);
    }
}

/// Claude Code reads its environment. A token that is set takes the place of its own login, which
/// only Anthropic's servers accept.
fn set_claude(launch: &mut Launch, endpoint: &Endpoint, variable: impl Fn(&str) -> Option<String>) {
    launch.variables.push(("ANTHROPIC_BASE_URL", endpoint.base.clone()));
    let token = match &endpoint.key {
        AgentKey::Own(ANTHROPIC_KEY) => None,
        key => Some(key.read(variable)),
    };
    if let Some(token) = token {
        launch.variables.push(("ANTHROPIC_AUTH_TOKEN", token));
        launch.removed.push(ANTHROPIC_KEY);
    }
    if let Some(model) = &endpoint.model {
        // The second one serves small side requests.
        for variable in ["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"] {
            launch.variables.push((variable, model.clone()));
        }
    }
}

/// opencode merges the variable into its settings. Its provider `@ai-sdk/openai` speaks the
/// Responses API.
fn set_opencode(
    launch: &mut Launch,
    endpoint: &Endpoint,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let model = endpoint.model.as_ref().ok_or_else(|| {
        Failure::usage("opencode has no default model for a gateway; give --model NAME")
    })?;
    let key = match &endpoint.key {
        AgentKey::Own(name) if variable(name).is_some() => format!("{{env:{name}}}"),
        key => key.text().to_owned(),
    };
    let config = json!({
        "$schema": "https://opencode.ai/config.json",
        "provider": {
            "antiphon": {
                "npm": "@ai-sdk/openai",
                "name": "Antiphon",
                "options": {"baseURL": format!("{}/v1", endpoint.base), "apiKey": key},
                "models": {model: {"name": model}},
            },
        },
        "model": format!("antiphon/{model}"),
    });
    launch.variables.push(("OPENCODE_CONFIG_CONTENT", config.to_string()));
    Ok(())
}

impl AgentKey {
    /// The text of the key; `variable` reads the agent's own from the environment.
    pub(super) fn read(&self, variable: impl Fn(&str) -> Option<String>) -> String {
        let own = match self {
            Self::Own(name) => variable(name),
            Self::Gateway(_) | Self::Any => None,
        };
        own.unwrap_or_else(|| self.text().to_owned())
    }

    /// The text of the key. An agent without a key of its own sends any.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Gateway(key) => key.reveal(),
            Self::Any | Self::Own(_) => ANY_KEY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(agent: Agent, key: AgentKey, model: Option<&str>, has_variable: bool) -> Launch {
        let base = "http://127.0.0.1:9".to_owned();
        let endpoint = Endpoint { base, key, model: model.map(str::to_owned) };
        let variable = |_: &str| has_variable.then(|| "sk-own".to_owned());
        agent.launch(&endpoint, &["exec".into()], variable).unwrap()
    }

    fn gateway_key() -> AgentKey {
        AgentKey::Gateway(Secret::new("sk-gateway"))
    }

    #[test]
    fn codex_reads_its_key_from_a_variable() {
        let has_key_of = |launch: &Launch, variable: &str| {
            let setting = format!("model_providers.antiphon.env_key=\"{variable}\"");
            launch.arguments.contains(&setting.into())
        };
        let own = launched(Agent::Codex, AgentKey::Own("ANTHROPIC_API_KEY"), None, true);
        assert!(has_key_of(&own, "ANTHROPIC_API_KEY") && own.variables.is_empty(), "{own:?}");

        let none = launched(Agent::Codex, AgentKey::Own("ANTHROPIC_API_KEY"), None, false);
        assert!(has_key_of(&none, KEY_VARIABLE), "{none:?}");
        assert_eq!(none.variables, [(KEY_VARIABLE, "antiphon".to_owned())]);

        let given = launched(Agent::Codex, gateway_key(), Some("gpt-5"), true);
        assert_eq!(given.variables, [(KEY_VARIABLE, "sk-gateway".to_owned())]);
        assert!(given.arguments.ends_with(&["-c".into(), "model=\"gpt-5\"".into(), "exec".into()]));
    }

    #[test]
    fn claude_keeps_its_own_login_only_for_a_forwarded_key() {
        let base = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9".to_owned());
        let own = launched(Agent::Claude, AgentKey::Own("ANTHROPIC_API_KEY"), None, true);
        assert_eq!(own.variables, std::slice::from_ref(&base));
        assert!(!own.removed.contains(&"ANTHROPIC_API_KEY"));

        let other = launched(Agent::Claude, AgentKey::Own("OPENAI_API_KEY"), None, true);
        let token = ("ANTHROPIC_AUTH_TOKEN", "sk-own".to_owned());
        assert_eq!(other.variables, [base.clone(), token]);
        assert!(other.removed.contains(&"ANTHROPIC_API_KEY"));

        let given = launched(Agent::Claude, gateway_key(), Some("sim"), true);
        let token = ("ANTHROPIC_AUTH_TOKEN", "sk-gateway".to_owned());
        let models = ["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"];
        let [main, small] = models.map(|name| (name, "sim".to_owned()));
        assert_eq!(given.variables, [base, token, main, small]);
        assert!(given.removed.contains(&"ANTHROPIC_API_KEY"));
    }

    #[test]
    fn operator_keys_are_hidden_from_every_agent() {
        for agent in [Agent::Codex, Agent::Claude, Agent::Opencode] {
            let launch = launched(agent, AgentKey::Any, Some("m"), true);
            assert!(OPERATOR_VARIABLES.iter().all(|name| launch.removed.contains(name)));
        }
    }
}
