//! Bad usage: exit code 2, a sentence on standard error, nothing on standard output.

use crate::world::{Ended, World};

/// Asserts that the process is refused with exactly this sentence.
fn refused(world: World, sentence: &str) {
    let stderr = format!("error: {sentence}\n");
    assert_eq!(world.ends(), Ended { code: Some(2), stdout: String::new(), stderr });
}

/// Asserts that the process is refused with a message that contains no secret.
fn refused_discreetly(args: &[&str]) {
    let ended = World::serve(args).ends();
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("sesame"), "{}", ended.stderr);
}

#[test]
fn invalid_value_is_rejected_with_its_flag() {
    let cases = [
        (
            ["--listen", "localhost"],
            "--listen: 'localhost' is not an IP address with a port, such as 127.0.0.1:8484",
        ),
        (["--store", "mysql:antiphon"], NO_STORE),
        (
            ["--store", "postgres://localhost/antiphon?sslmode=verify-ca"],
            "--store: sslmode=verify-ca is not supported: give disable, prefer, require or \
             verify-full",
        ),
        (["--store", "sqlite:"], NO_STORE),
        (["--store", "sqlite://antiphon.db"], NO_STORE),
        (
            ["--upstream", "https://models.example"],
            "--upstream: this must be an http or https URL without a key, whose path ends in /v1, \
             such as https://api.openai.com/v1",
        ),
        (
            ["--upstream=https://host.example", "--upstream-api=anthropic"],
            "--upstream: this must be an http or https URL without a key, whose path ends in /v1, \
             such as https://api.anthropic.com/v1",
        ),
        (
            ["--upstream=http://host.example/v1/chat/completions", "--upstream-api=chat"],
            "--upstream: this must be an http or https URL without a key, whose path is the one \
             before /chat/completions, such as http://127.0.0.1:11434/v1",
        ),
        (
            ["--upstream-api", "ai-sdk"],
            "--upstream-api: 'ai-sdk' is none of 'responses', 'chat' and 'anthropic'",
        ),
        (
            ["--upstream-key", "two words"],
            "--upstream-key: the key must consist of visible ASCII characters, without spaces",
        ),
        (["--state", "client"], "--state: 'client' is neither 'antiphon' nor 'upstream'"),
        (["--reasoning-as", "text"], "--reasoning-as: 'text' is neither 'summary' nor 'content'"),
        (["--faults", "ignore"], "--faults: 'ignore' is neither 'repair' nor 'reject'"),
        (["--turn-wait", "soon"], "--turn-wait: 'soon' is not a whole number of seconds"),
        (["--turn-wait", "-1"], "--turn-wait: '-1' is not a whole number of seconds"),
        (["--shutdown-grace", "-1"], "--shutdown-grace: '-1' is not a whole number of seconds"),
        (["--max-tenant-bytes", "0"], "--max-tenant-bytes: '0' is not a whole number above 0"),
        (["--max-open-turns", "-1"], "--max-open-turns: '-1' is not a whole number above 0"),
        (
            ["--requests-per-second", "-1.5"],
            "--requests-per-second: '-1.5' is not a whole number above 0",
        ),
        (
            ["--retention", "-1"],
            "--retention: '-1' is neither a whole number of days up to 65535 nor 'never'",
        ),
        (
            ["--retention", "forever"],
            "--retention: 'forever' is neither a whole number of days up to 65535 nor 'never'",
        ),
        (["--on-disconnect", "stop"], "--on-disconnect: 'stop' is neither 'settle' nor 'finish'"),
        (
            ["--event-names", "acme"],
            "--event-names: 'acme' is neither 'openai' nor 'open-responses'",
        ),
        (["--api-key", "key"], "--api-key: an entry is not of the form KEY=TENANT"),
        (["--api-key", "=acme"], "--api-key: an entry is not of the form KEY=TENANT"),
        (["--api-key", "key="], "--api-key: an entry is not of the form KEY=TENANT"),
    ];
    for (args, sentence) in cases {
        refused(World::serve(&args), sentence);
    }
}

#[test]
fn upstream_state_needs_a_stateful_upstream() {
    let nobody = "--state: no upstream is configured that could own the state, and the built-in \
                  model 'sim' stores none; give --upstream URL";
    refused(World::serve(&["--state", "upstream"]), nobody);
    let variable = World::serve(&[]).variable("ANTIPHON_STATE", "upstream");
    refused(variable, &nobody.replace("--state", "ANTIPHON_STATE"));

    let models = ["--upstream", "http://127.0.0.1:9/v1"];
    let chat = [&models[..], &["--upstream-api", "chat", "--state", "upstream"]].concat();
    let sentence = "--state: http://127.0.0.1:9/v1 speaks 'chat', an API without stored state; \
                    give --state antiphon, or --upstream-api responses if the server has that API \
                    too";
    refused(World::serve(&chat), sentence);

    let ledger = [&models[..], &["--ledger", "bodies"]].concat();
    let sentence = "--ledger: this has no effect, because Antiphon owns all state; give --state \
                    upstream, or state = \"upstream\" below [[upstreams]]";
    refused(World::serve(&ledger), sentence);
}

#[test]
fn duplicate_key_is_rejected() {
    let sentence = "'acme' and 'globex' have the same key";
    let flags = World::serve(&["--api-key", "key=acme", "--api-key", "key=globex"]);
    refused(flags, &format!("--api-key: {sentence}"));
    let variable = World::serve(&[]).variable("ANTIPHON_API_KEY", "key=acme,key=globex");
    refused(variable, &format!("ANTIPHON_API_KEY: {sentence}"));
}

#[test]
fn our_keys_are_not_forwarded_to_a_provider() {
    let sentence = |key: &str| {
        format!(
            "the upstream https://models.example/v1 has no key, so the gateway would forward its \
             own API keys to the provider; give {key}, or 'key' or 'key-env' below [[upstreams]]"
        )
    };
    let upstream = ["--upstream", "https://models.example/v1"];
    let args = [&upstream[..], &["--api-key", "key=acme"]].concat();
    refused(World::serve(&args), &format!("--api-key: {}", sentence("--upstream-key KEY")));
    let variable = World::serve(&upstream).variable("ANTIPHON_API_KEY", "key=acme");
    let key = sentence("ANTIPHON_UPSTREAM_KEY=KEY");
    refused(variable, &format!("ANTIPHON_API_KEY: {key}"));
    let file = World::serve(&upstream).file("antiphon.toml", "\napi-keys = ['key=acme']");
    let key = sentence("upstream-key = \"KEY\"");
    refused(file, &format!("antiphon.toml:2: api-keys: {key}"));
}

#[test]
fn public_gateway_must_authenticate_callers() {
    let sentence = |keys: &str, header: &str| {
        format!(
            "0.0.0.0:8484 can be reached from other machines, and nothing authenticates the \
             callers; give {keys}, or {header} if a trusted proxy sets it, or only upstreams that \
             get the callers' own tokens, or listen on 127.0.0.1"
        )
    };
    let open = ["--listen", "0.0.0.0:8484"];
    let flags = sentence("--api-key KEY=TENANT", "--tenant-header NAME");
    refused(World::serve(&open), &format!("--listen: {flags}"));
    let upstream = ["--upstream", "https://models.example/v1", "--upstream-key", "key"];
    refused(World::serve(&[open.as_slice(), &upstream].concat()), &format!("--listen: {flags}"));
    let variable = World::serve(&[]).variable("ANTIPHON_LISTEN", "0.0.0.0:8484");
    let variables = sentence("ANTIPHON_API_KEY=KEY=TENANT", "ANTIPHON_TENANT_HEADER=NAME");
    refused(variable, &format!("ANTIPHON_LISTEN: {variables}"));
    let file = World::serve(&[]).file("antiphon.toml", "\nlisten = '0.0.0.0:8484'");
    let keys = sentence("api-keys = [\"KEY=TENANT\"]", "tenant-header = \"NAME\"");
    refused(file, &format!("antiphon.toml:2: listen: {keys}"));
}

#[test]
fn tenant_has_one_name() {
    let sentence = |keys: &str| {
        format!("this and {keys} both identify the tenant of a caller; give one of them")
    };
    let flags = World::serve(&["--api-key", "key=acme", "--tenant-header", "x-tenant"]);
    refused(flags, &format!("--tenant-header: {}", sentence("--api-key")));
    let mixed = World::serve(&[])
        .variable("ANTIPHON_TENANT_HEADER", "x-tenant")
        .file("antiphon.toml", "\napi-keys = ['key=acme']");
    let keys = sentence("api-keys (antiphon.toml:2)");
    refused(mixed, &format!("ANTIPHON_TENANT_HEADER: {keys}"));
}

#[test]
fn unknown_key_is_reported_with_its_line() {
    let world = World::serve(&[]).file("antiphon.toml", "faults = 'repair'\n\nfoo = 1\n");
    let sentence = "antiphon.toml:3: unknown key 'foo'; the keys are listen, store, upstream, \
                    upstream-api, upstream-key, upstream-ca-file, state, reasoning-as, ledger, \
                    faults, api-keys, tenant-header, allow-origins, allow-hosts, secrets, \
                    turn-wait, on-disconnect, event-names, retention, shutdown-grace, \
                    metrics-listen, metrics-key, metrics-tenants, inspect, inspect-writes, \
                    inspect-bodies, pass-through, upstreams, webhooks, limits, prices";
    refused(world, sentence);
}

#[test]
fn missing_settings_file_is_rejected() {
    let ended = World::serve(&["--config", "absent.toml"]).ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.starts_with("error: absent.toml cannot be read: "), "{}", ended.stderr);
}

#[test]
fn settings_of_the_log_are_checked() {
    let format = World::serve(&[]).variable("ANTIPHON_LOG_FORMAT", "xml");
    refused(format, "ANTIPHON_LOG_FORMAT: 'xml' is neither text nor json");
    let filter = World::serve(&[]).variable("ANTIPHON_LOG", "info,antiphon=loud").ends();
    assert_eq!((filter.code, filter.stdout.as_str()), (Some(2), ""));
    let sentence = "error: ANTIPHON_LOG: 'info,antiphon=loud' is not a log filter: ";
    assert!(filter.stderr.starts_with(sentence), "{}", filter.stderr);
}

#[test]
fn invalid_command_line_is_rejected() {
    for args in [&["sing"][..], &["serve", "--loud"], &["serve", "--store"]] {
        let ended = World::antiphon(args).ends();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
    let bare = World::antiphon(&[]).ends();
    assert_eq!((bare.code, bare.stdout.as_str()), (Some(2), ""));
    assert!(bare.stderr.contains("Usage: antiphon"), "{}", bare.stderr);
}

#[test]
fn no_rejection_repeats_a_secret() {
    refused_discreetly(&["--upstream-key", "open sesame"]);
    refused_discreetly(&["--upstream-key", "key", "sesame"]);
    refused_discreetly(&["--upstreem-key=sesame"]);
    refused_discreetly(&["--upstream-key=a", "--upstream-key=sesame"]);
    refused_discreetly(&["--api-key", "sesame"]);
    refused_discreetly(&["--api-key", "sésame-sesame=acme"]);
    refused_discreetly(&["--api-key", "sesame=acme", "sesame=globex"]);
    refused_discreetly(&["--upstream", "https://user:sesame@models.example/v1"]);
    refused_discreetly(&["--upstream", "https://models.example/v1?key=sesame"]);
    refused_discreetly(&["--store", "postgres://user:sesame@localhost:sesame/antiphon"]);
    refused_discreetly(&["--store", "postgres://user:a?sesame@localhost/antiphon"]);
    refused_discreetly(&["--store", "postgres://localhost/antiphon?pool_max=sesame"]);
    refused_discreetly(&["--store", "mysql://user:sesame@localhost/antiphon"]);
}

const NO_STORE: &str =
    "--store: this is not the URL of a store; give sqlite:PATH or postgres://USER@HOST/NAME";
