use antiphon_gateway::settings::{Capabilities, Ledger, Preset, State, UpstreamSettings};

use super::*;

const URL: &str = "url = 'https://models.example/v1'\n";

fn upstreams(args: SettingsArgs, text: &str) -> Vec<UpstreamSettings> {
    configuration(args, variables([]), text).gateway.upstreams
}

fn everywhere(owner: &str) -> SettingsArgs {
    args(["--state", owner])
}

fn entry(lines: &str) -> String {
    format!("[[upstreams]]\nmodels = ['m']\n{URL}{lines}\n")
}

/// The same server for other models: two upstreams never share a model.
fn second_entry(lines: &str) -> String {
    entry(lines).replace("['m']", "['n']")
}

fn states(args: SettingsArgs, text: &str) -> Vec<State> {
    upstreams(args, text).into_iter().map(|upstream| upstream.state).collect()
}

fn capabilities(lines: &str) -> Option<Capabilities> {
    let text = entry(&format!("state = 'upstream'\n{lines}"));
    upstreams(SettingsArgs::default(), &text)[0].capabilities
}

#[test]
fn antiphon_owns_the_state_by_default() {
    assert_eq!(states(SettingsArgs::default(), &entry("")), [State::Here]);
    assert_eq!(states(everywhere("antiphon"), &entry("")), [State::Here]);
}

#[test]
fn general_state_applies_to_every_upstream() {
    let text = format!("upstream = 'https://other.example/v1'\n{}", entry(""));
    assert_eq!(states(everywhere("upstream"), &text), [State::Upstream; 2]);
    let text = format!("state = 'upstream'\n{text}");
    assert_eq!(states(SettingsArgs::default(), &text), [State::Upstream; 2]);
}

#[test]
fn state_of_an_upstream_takes_precedence() {
    let text = [entry("state = 'antiphon'\napi = 'anthropic'"), second_entry("")].concat();
    assert_eq!(states(everywhere("upstream"), &text), [State::Here, State::Upstream]);
    let text = [entry("state = 'upstream'"), second_entry("")].concat();
    assert_eq!(states(everywhere("antiphon"), &text), [State::Upstream, State::Here]);
}

#[test]
fn preset_sets_the_capabilities() {
    assert_eq!(capabilities(""), None);
    for (name, preset) in [
        ("openai", Preset::OpenAi),
        ("azure", Preset::Azure),
        ("open-responses", Preset::OpenResponses),
    ] {
        let given = capabilities(&format!("preset = '{name}'"));
        assert_eq!(given, Some(preset.capabilities()), "{name}");
    }
}

#[test]
fn capabilities_override_or_replace_the_preset() {
    let openai = Preset::OpenAi.capabilities();
    let changed = capabilities("preset = 'openai'\nitem-deletion = false");
    assert_eq!(changed, Some(Capabilities { item_deletion: false, ..openai }));
    let said = "conversations = true\nchains = true\nitem-deletion = true\ninput-items = true";
    assert_eq!(capabilities(said), Some(openai));
}

#[test]
fn ledger_setting_accepts_heads_or_bodies() {
    let ledger = |text: &str| {
        let text = format!("{text}{}", entry("state = 'upstream'"));
        of_file(&text).unwrap().gateway.ledger
    };
    assert_eq!(ledger(""), Ledger::Heads);
    assert_eq!(ledger("ledger = 'heads'\n"), Ledger::Heads);
    assert_eq!(ledger("ledger = 'bodies'\n"), Ledger::Bodies);
}

#[test]
fn state_without_a_capable_upstream_is_rejected() {
    let keeping = |lines: &str| entry(&format!("state = 'upstream'\n{lines}"));
    let cases = [
        (
            "state = 'upstream'".to_owned(),
            "antiphon.toml:1: state: no upstream is configured that could own the state, and the \
             built-in model 'sim' stores none; give --upstream URL",
        ),
        (
            "state = 'upstream'\nupstream-api = 'chat'\nupstream = 'https://models.example'"
                .to_owned(),
            "antiphon.toml:1: state: https://models.example/ speaks 'chat', an API without \
             stored state; give state = \"antiphon\", or upstream-api = \"responses\" if the \
             server has that API too",
        ),
        (
            keeping("api = 'anthropic'"),
            "antiphon.toml:4: state: https://models.example/v1 speaks 'anthropic', an API \
             without stored state; give it state = \"antiphon\" below [[upstreams]]",
        ),
        (
            format!("state = 'upstream'\n{}", entry("api = 'chat'")),
            "antiphon.toml:1: state: https://models.example/v1 speaks 'chat', an API without \
             stored state; give it state = \"antiphon\" below [[upstreams]]",
        ),
        (
            entry("preset = 'azure'"),
            "antiphon.toml:4: preset needs an upstream that owns the state; give this one state \
             = \"upstream\"",
        ),
        (
            format!("ledger = 'bodies'\n{}", entry("")),
            "antiphon.toml:1: ledger: this has no effect, because Antiphon owns all state; give \
             --state upstream, or state = \"upstream\" below [[upstreams]]",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(&text), sentence, "{text}");
    }
}

#[test]
fn invalid_state_setting_is_rejected_with_the_choices() {
    let keeping = |lines: &str| entry(&format!("state = 'upstream'\n{lines}"));
    let cases = [
        (
            entry("state = 'gateway'"),
            "antiphon.toml:4: state: 'gateway' is neither 'antiphon' nor 'upstream'",
        ),
        (
            keeping("preset = 'openapi'"),
            "antiphon.toml:5: preset: 'openapi' is none of 'openai', 'azure' and 'open-responses'",
        ),
        (
            keeping("preset = 'azure'\nchains = 'no'"),
            "antiphon.toml:6: chains must be true or false",
        ),
        (
            keeping("chains = false"),
            "antiphon.toml:5: chains needs a preset too, which sets the other capabilities: \
             \"openai\", \"azure\" or \"open-responses\"",
        ),
        (
            format!("ledger = 'items'\n{}", keeping("")),
            "antiphon.toml:1: ledger: 'items' is neither 'heads' nor 'bodies'",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(&text), sentence, "{text}");
    }
}

#[test]
fn stateful_url_has_one_account() {
    let keeping = entry("state = 'upstream'\nkey = 'sk-one'");
    let sentence = "[[upstreams]]: https://models.example/v1 owns the state and has different \
                    keys; its ids do not identify the account, so give it the same key \
                    everywhere";
    for other in ["key = 'sk-two'", "state = 'upstream'\nkey = 'sk-two'", ""] {
        assert_eq!(
            refusal_of_file(&[keeping.clone(), second_entry(other)].concat()),
            sentence,
            "{other}"
        );
    }
    let text = [keeping, second_entry("key = 'sk-one'")].concat();
    assert_eq!(states(SettingsArgs::default(), &text), [State::Upstream, State::Here]);
    let text = [entry("key = 'sk-one'"), second_entry("key = 'sk-two'")].concat();
    assert_eq!(states(SettingsArgs::default(), &text), [State::Here; 2]);
}
