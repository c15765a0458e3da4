//! `antiphon run`: agents that call the gateway which they were given.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::canned::Canned;
use crate::world::{Ended, World};

/// Writes down its arguments and its environment.
const RECORD: &str = r#"#!/bin/bash
printf '%s\n' "$@" > "$RECORDS/arguments"
env > "$RECORDS/environment"
"#;

/// An agent like Codex: a turn at the base URL of its arguments.
const CODEX: &str = r#"
for argument in "$@"; do
    case "$argument" in
        model_providers.antiphon.base_url=*) base=${argument#*=} base=${base//\"/} ;;
        model_providers.antiphon.env_key=*) key=${argument#*=} key=${key//\"/} ;;
    esac
done
curl -sS "$base/responses" -H "Authorization: Bearer ${!key}" \
    -H 'Content-Type: application/json' -d '{"model": "sim", "input": "Hello"}'
exit 7
"#;

/// A folder with programs, and the records of the agent.
struct Agents(TempDir);

impl Agents {
    /// One program with this name, which records its start and then does this.
    fn with(name: &str, script: &str) -> Self {
        let agents = Self(tempfile::tempdir().unwrap());
        agents.add(name, &format!("{RECORD}{script}"))
    }

    /// Another process writes the program: as long as this one has it open, it cannot run.
    fn add(self, name: &str, script: &str) -> Self {
        let source = self.0.path().join(".source");
        fs::write(&source, script).unwrap();
        let target = self.0.path().join(name);
        let installed =
            Command::new("install").args(["-m", "755"]).arg(&source).arg(&target).status();
        assert!(installed.unwrap().success());
        self
    }

    fn run(&self, args: &[&str]) -> World {
        let records = self.0.path().display().to_string();
        World::antiphon(&[&["run"], args].concat())
            .variable("PATH", &format!("{records}:/usr/bin:/bin"))
            .variable("RECORDS", &records)
    }

    fn record(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn arguments(&self) -> Vec<String> {
        self.record("arguments").lines().map(str::to_owned).collect()
    }

    /// The variable of the agent.
    fn variable(&self, name: &str) -> Option<String> {
        let environment = self.record("environment");
        let prefix = format!("{name}=");
        environment.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned)
    }
}

/// The address in a base URL.
fn address(url: &str) -> &str {
    url.trim_start_matches("http://").split('/').next().unwrap()
}

/// The value of a setting among the arguments of Codex.
fn setting(arguments: &[String], name: &str) -> String {
    let prefix = format!("{name}=");
    let value = arguments.iter().find_map(|argument| argument.strip_prefix(&prefix)).unwrap();
    serde_json::from_str(value).unwrap()
}

#[test]
fn codex_has_a_turn_with_the_gateway_and_ends_it() {
    let agents = Agents::with("codex", CODEX);
    let ended = agents.run(&["codex", "--", "exec", "--json"]).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(7), ""), "{}", ended.stdout);
    let response: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&response["status"], &response["model"]), (&"completed".into(), &"sim".into()));

    let arguments = agents.arguments();
    assert!(arguments.ends_with(&["exec".to_owned(), "--json".to_owned()]), "{arguments:?}");
    for (name, value) in [
        ("model_provider", "antiphon"),
        ("model_providers.antiphon.wire_api", "responses"),
        ("model", "sim"),
    ] {
        assert_eq!(setting(&arguments, name), value);
    }
    let base = setting(&arguments, "model_providers.antiphon.base_url");
    assert!(base.starts_with("http://127.0.0.1:") && base.ends_with("/v1"), "{base}");
    assert!(TcpStream::connect(address(&base)).is_err(), "the gateway still listens");
}

#[test]
fn operator_keys_do_not_reach_the_agent() {
    let upstream = Canned::listing(&["gpt-5"]);
    let script = CODEX.replace("curl", "curl -X GET").replace("/responses", "/models");
    let agents = Agents::with("codex", &script);
    let ended = agents
        .run(&["codex", "--upstream", &upstream.url(), "--model", "gpt-5"])
        .variable("OPENAI_API_KEY", "sk-own")
        .variable("ANTIPHON_SECRET", "the-secret-of-2026")
        .variable("ANTIPHON_LISTEN", "0.0.0.0:1")
        .ends();
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"gpt-5\""), "{}", ended.stdout);
    assert!(upstream.head().contains("authorization: bearer sk-own\r\n"));
    assert_eq!(setting(&agents.arguments(), "model"), "gpt-5");
    assert_eq!(agents.variable("OPENAI_API_KEY").as_deref(), Some("sk-own"));
    assert_eq!(agents.variable("ANTIPHON_SECRET"), None);

    let agents = Agents::with("codex", &script);
    let args = ["codex", "--upstream", &upstream.url()];
    let ended = agents.run(&args).variable("ANTIPHON_UPSTREAM_KEY", "sk-operator").ends();
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(upstream.head().contains("authorization: bearer sk-operator\r\n"));
    assert_eq!(agents.variable("ANTIPHON_UPSTREAM_KEY"), None);
}

#[test]
fn claude_calls_the_gateway_of_its_environment() {
    let script = "curl -sS \"$ANTHROPIC_BASE_URL/v1/models\" \
                  -H \"Authorization: Bearer $ANTHROPIC_AUTH_TOKEN\"";
    let agents = Agents::with("claude", script);
    let ended =
        agents.run(&["claude", "--", "-p", "Hello"]).variable("ANTHROPIC_API_KEY", "sk-ant").ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"sim\""), "{}", ended.stdout);
    assert_eq!(agents.arguments(), ["-p", "Hello"]);
    let base = agents.variable("ANTHROPIC_BASE_URL").unwrap();
    assert!(base.starts_with("http://127.0.0.1:") && !base.ends_with("/v1"), "{base}");
    assert_eq!(agents.variable("ANTHROPIC_MODEL").as_deref(), Some("sim"));
    assert_eq!(agents.variable("ANTHROPIC_API_KEY"), None);

    let upstream = Canned::listing(&["claude-4"]);
    let agents = Agents::with(
        "claude",
        "curl -sS $ANTHROPIC_BASE_URL/v1/models -H \"X-Api-Key: $ANTHROPIC_API_KEY\"",
    );
    let args = ["claude", "--upstream", &upstream.url(), "--upstream-api", "anthropic"];
    let ended = agents.run(&args).variable("ANTHROPIC_API_KEY", "sk-ant").ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(agents.variable("ANTHROPIC_AUTH_TOKEN"), None);
    assert!(upstream.head().contains("sk-ant"));
}

#[test]
fn opencode_gets_a_provider_with_its_model() {
    let script = r#"
base=$(sed 's/.*"baseURL":"\([^"]*\)".*/\1/' <<< "$OPENCODE_CONFIG_CONTENT")
curl -sS "$base/models"
"#;
    let agents = Agents::with("opencode", script);
    let ended = agents.run(&["opencode"]).ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"sim\""), "{}", ended.stdout);
    let config: Value =
        serde_json::from_str(&agents.variable("OPENCODE_CONFIG_CONTENT").unwrap()).unwrap();
    assert_eq!(config["model"], "antiphon/sim");
    assert_eq!(config["provider"]["antiphon"]["models"]["sim"]["name"], "sim");

    let ended = agents.run(&["opencode", "--upstream", "http://127.0.0.1:9/v1"]).ends();
    let sentence = "error: opencode has no default model for a gateway; give --model NAME\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), sentence));
}

#[test]
fn gemini_calls_the_gateway_of_its_environment() {
    let script = r#"
cat "$GEMINI_CLI_SYSTEM_SETTINGS_PATH"
curl -sS "$GOOGLE_GEMINI_BASE_URL/v1beta/models?key=$GEMINI_API_KEY"
"#;
    let agents = Agents::with("gemini", script);
    let home = tempfile::tempdir().unwrap();
    let home = home.path().display().to_string();
    let run = agents.run(&["gemini", "--", "-p", "Hello"]).variable("HOME", &home);
    let ended = run.variable("GOOGLE_GENAI_USE_GCA", "true").ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains(r#""selectedType":"gemini-api-key""#), "{}", ended.stdout);
    assert!(ended.stdout.contains(r#""name":"models/sim""#), "{}", ended.stdout);
    assert_eq!(agents.arguments(), ["-p", "Hello"]);
    assert_eq!(agents.variable("GEMINI_MODEL").as_deref(), Some("sim"));
    assert_eq!(agents.variable("GOOGLE_GENAI_USE_GCA"), None);

    let upstream = Canned::listing(&["gpt-9"]);
    let args = ["gemini", "--upstream", &upstream.url()];
    let run = agents.run(&args).variable("HOME", &home).variable("OPENAI_API_KEY", "sk-own");
    let ended = run.ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(upstream.head().contains("sk-own"));
    assert_eq!(agents.variable("GEMINI_MODEL"), None);
}

#[test]
fn unreadable_settings_of_gemini_are_a_failure() {
    let agents = Agents::with("gemini", "");
    let settings = tempfile::NamedTempFile::new().unwrap();
    let path = settings.path().display().to_string();
    let run = agents.run(&["gemini"]).variable("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &path);
    let ended = run.ends();
    assert_eq!(ended.code, Some(1));
    let sentence = format!("error: cannot read the settings of gemini in {path}: EOF while");
    assert!(ended.stderr.starts_with(&sentence), "{}", ended.stderr);
}

#[test]
fn missing_program_is_named_with_its_install_command() {
    let ended = World::antiphon(&["run", "codex"]).variable("PATH", "/nonexistent").ends();
    let sentence = "error: codex is not installed, or not on the PATH; install it: npm install -g \
                    @openai/codex\n";
    let expected = Ended { code: Some(1), stdout: String::new(), stderr: sentence.to_owned() };
    assert_eq!(ended, expected);
}

#[test]
fn signal_passes_to_the_agent_and_its_exit_code_back() {
    let script = r#"
trap 'exit 3' TERM HUP INT
echo "antiphon listening on http://127.0.0.1:1/v1"
while true; do read -r -t 1 < <(sleep 1); done
"#;
    for signal in ["TERM", "HUP", "INT"] {
        let agents = Agents::with("codex", script);
        let running = agents.run(&["codex"]).ready();
        running.signal(signal);
        let (status, _, stderr) = running.ended();
        assert_eq!(status.code(), Some(3), "SIG{signal}: {stderr}");
    }
}

#[test]
fn ctrl_c_on_a_terminal_reaches_the_agent_once() {
    let script = r#"
count=0
trap 'count=$((count + 1))' INT
echo ready
until [ $count -gt 0 ]; do read -r -t 1 < <(trap '' INT; sleep 1); done
read -r -t 1 < <(trap '' INT; sleep 1)
echo "interrupts: $count"
exit 5
"#;
    let agents = Agents::with("codex", script);
    let mut terminal = agents.run(&["codex"]).on_a_terminal();
    let mut input = terminal.stdin.take().unwrap();
    let mut output = BufReader::new(terminal.stdout.take().unwrap());
    let mut read_until = |text: &str| {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the output ended without {text}");
        }
        line
    };
    read_until("ready");
    input.write_all(b"\x03").unwrap();
    assert!(read_until("interrupts").contains("interrupts: 1"));
    assert_eq!(terminal.wait().unwrap().code(), Some(5));
}

#[test]
fn killed_agent_has_the_exit_code_of_a_shell() {
    let ended = Agents::with("codex", "kill -s KILL $$").run(&["codex"]).ends();
    assert_eq!(ended.code, Some(128 + 9));
}

#[test]
fn running_gateway_is_used_and_left() {
    let args = ["--listen", "127.0.0.1:0", "--api-key", "sk-caller=acme"];
    let gateway = World::serve(&args).ready();
    let url = format!("http://{}/v1/", gateway.address());
    let agents = Agents::with("codex", CODEX);
    let ended =
        agents.run(&["codex", "--url", &url, "--key", "sk-caller", "--model", "sim"]).ends();
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    let response: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(response["status"], "completed", "{response}");
    assert_eq!(gateway.status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[test]
fn gateway_that_does_not_answer_is_a_failure() {
    let agents = Agents::with("codex", CODEX);
    let ended = agents.run(&["codex", "--url", "http://127.0.0.1:1"]).ends();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("error: no gateway answers at --url: "), "{}", ended.stderr);

    let other = Canned::answering("404 Not Found", "", "");
    let ended = agents.run(&["codex", "--url", &format!("http://{}", other.address)]).ends();
    let sentence = "error: the server at --url is no gateway that is ready: it answers /healthz \
                    with 404 Not Found\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), sentence));
    assert!(!agents.0.path().join("arguments").exists(), "the agent was started");
}

#[test]
fn inspector_is_printed_opened_and_served() {
    let script = r#"
read -r url < "$RECORDS/opened"
curl -sS -o /dev/null -w '%{http_code}' "$url"
"#;
    let agents = Agents::with("codex", script);
    let pipe = agents.0.path().join("opened");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let agents =
        agents.add("xdg-open", "#!/bin/bash\nprintf '%s\\n' \"$1\" > \"$RECORDS/opened\"\n");
    let world = agents.run(&["codex", "--inspect"]).variable("ANTIPHON_INSPECT", "off");
    let ended = world.ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "200"), "{}", ended.stderr);
    let address = ended.stderr.strip_prefix("Inspector: http://127.0.0.1:").unwrap();
    assert!(address.ends_with("/inspect/\n"), "{address}");
}

#[test]
fn settings_decide_the_store_and_the_keys() {
    let agents = Agents::with("codex", CODEX);
    let world = agents.run(&["codex"]).file("antiphon.toml", "api-keys = ['sk-caller=acme']\n");
    let ended = world.ends();
    let sentence = "error: callers of this gateway need one of its api-keys; give --key KEY\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), sentence));

    let store = agents.0.path().join("kept.db");
    let log = agents.0.path().join("gateway.log");
    let args = ["codex", "--key", "sk-caller", "--log", log.to_str().unwrap()];
    let file = format!("api-keys = ['sk-caller=acme']\nstore = 'sqlite:{}'\n", store.display());
    let ended = agents.run(&args).file("antiphon.toml", &file).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(7), ""));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("model=\"sim\"") && !log.contains("sk-caller"), "{log}");
    let store = format!("sqlite:{}", store.display());
    let tenants = World::antiphon(&["tenants", "--store", &store]).ends().stdout;
    assert!(tenants.contains("acme"), "{tenants}");
}
