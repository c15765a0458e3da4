//! Settings that would have no effect, or another one than meant: each is refused, or reported
//! where it may belong to another program.

use crate::world::{Ended, World};

const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn refused(world: World, sentence: &str) {
    let stderr = format!("error: {sentence}\n");
    assert_eq!(world.ends(), Ended { code: Some(2), stdout: String::new(), stderr });
}

fn file_refused(text: &str, sentence: &str) {
    let world = World::serve(&ANY_PORT).file("antiphon.toml", text);
    refused(world, &format!("antiphon.toml:{sentence}"));
}

#[test]
fn unknown_variable_is_reported_with_the_nearest_name() {
    let serving = World::serve(&ANY_PORT)
        .variable("ANTIPHON_TURNWAIT", "5")
        .variable("ANTIPHON_MAX_BODY_BYTES", "5")
        .variable("ANTIPHON_SERVICE_HOST", "10.0.0.1")
        .ready();

    serving.signal("TERM");

    let (status, _, stderr) = serving.ended();
    assert_eq!(status.code(), Some(0));
    let nearest = "ANTIPHON_TURNWAIT has no effect: no setting has this name; did you mean \
                   ANTIPHON_TURN_WAIT?";
    assert!(stderr.contains(nearest), "{stderr}");
    assert!(stderr.contains("ANTIPHON_MAX_BODY_BYTES has no effect"), "{stderr}");
    assert!(!stderr.contains("ANTIPHON_SERVICE_HOST"), "{stderr}");
}

#[test]
fn variable_that_the_file_names_is_not_reported() {
    let text = "[[upstreams]]\nmodels = ['*']\nurl = 'http://127.0.0.1:9/v1'\n\
                key-env = 'ANTIPHON_UPSTREAM_KEY'\n";
    let serving = World::serve(&ANY_PORT)
        .file("antiphon.toml", text)
        .variable("ANTIPHON_UPSTREAM_KEY", "sk-up")
        .ready();

    serving.signal("TERM");

    let (_, _, stderr) = serving.ended();
    assert!(!stderr.contains("no effect"), "{stderr}");
}

#[test]
fn invalid_port_is_rejected() {
    let cases = [
        ("--listen", "127.0.0.1:99999", "port 99999 does not exist; ports are 0 to 65535"),
        ("--upstream", "http://127.0.0.1:99999/v1", NO_PORT),
        ("--upstream", "https://[::1]:99999/v1", NO_PORT),
        ("--upstream", "http://127.0.0.1:0/v1", "port 0 does not exist; ports are 1 to 65535"),
        ("--upstream", "http://127.0.0.1:/v1", "the URL has a colon but no port after its host"),
    ];
    for (flag, value, sentence) in cases {
        refused(World::serve(&[flag, value]), &format!("{flag}: {sentence}"));
    }
    let upstream = "[[upstreams]]\nmodels = ['*']\nurl = 'http://127.0.0.1:70000/v1'\n";
    let sentence = NO_PORT.replace("99999", "70000");
    file_refused(upstream, &format!("3: url: {sentence}"));
    let webhook = format!("[[webhooks]]\nurl = 'https://hooks.example:99999/'\n{SECRET}");
    file_refused(&webhook, &format!("2: url: {NO_PORT}"));
}

#[test]
fn unreachable_model_pattern_is_rejected() {
    let upstream = |model: &str, port: u16| {
        format!("[[upstreams]]\nmodels = ['{model}']\nurl = 'http://127.0.0.1:{port}/v1'\n")
    };
    let hidden = |name: &str, wider: &str| {
        format!(
            "this upstream never gets a request for '{name}': an earlier one matches '{wider}'; \
             the first match serves the model, so put narrower patterns first"
        )
    };
    for (wider, name) in [("gpt-*", "gpt-5-mini"), ("gpt-*", "gpt-*-mini"), ("*", "*")] {
        let text = upstream(wider, 1) + &upstream(name, 2);
        file_refused(&text, &format!("5: {}", hidden(name, wider)));
    }
    let sim = "2: the built-in model serves 'sim', so no upstream can";
    file_refused(&upstream("sim", 1), sim);
    let padded = "2: 'gpt-* ' is not the name of a model: it is empty, or begins or ends with a \
                  space";
    file_refused(&upstream("gpt-* ", 1), padded);
    let flag = World::serve(&["--upstream", "http://127.0.0.1:2/v1"]);
    let flag = flag.file("antiphon.toml", &upstream("*", 1));
    refused(flag, &format!("--upstream: {}", hidden("*", "*")));

    let narrow_first = upstream("gpt-5-mini", 1) + &upstream("gpt-*", 2);
    World::serve(&ANY_PORT).file("antiphon.toml", &narrow_first).ready();
}

#[test]
fn webhook_of_an_impossible_tenant_is_rejected() {
    let webhook = |tenant: &str| {
        format!("[[webhooks]]\nurl = 'https://hooks.example/'\n{SECRET}tenants = ['{tenant}']\n")
    };
    let with_keys =
        |tenant: &str| format!("api-keys = ['k1=acme', 'k2=globex']\n{}", webhook(tenant));
    let unknown = "no caller can be the tenant 'acne'";
    let keys = format!("5: tenants: {unknown}: the tenants of the API keys are acme, globex");
    file_refused(&with_keys("acne"), &keys);
    let header = format!("tenant-header = 'x-tenant'\n{}", webhook("acne"));
    let named = format!("5: tenants: {unknown}: 'x-tenant: acne' names the tenant 'named-acne'");
    file_refused(&header, &named);
    let everyone = "without API keys, all callers are the tenant 'everyone'";
    file_refused(&webhook("acne"), &format!("4: tenants: {unknown}: {everyone}"));

    for text in [with_keys("globex"), header.replace("acne", "named-acme"), webhook("everyone")] {
        World::serve(&ANY_PORT).file("antiphon.toml", &text).ready();
    }
}

#[test]
fn setting_of_an_unnamed_upstream_is_rejected() {
    let sentence = "this has no effect without --upstream; upstreams in the file have settings of \
                    their own, below [[upstreams]]";
    refused(World::serve(&["--upstream-key", "sk"]), &format!("--upstream-key: {sentence}"));
    file_refused("upstream-api = 'chat'", &format!("1: upstream-api: {sentence}"));
    let serving = World::serve(&ANY_PORT).variable("ANTIPHON_UPSTREAM_KEY", "sk").ready();
    serving.says(&format!("ANTIPHON_UPSTREAM_KEY: {sentence}"));
}

#[test]
fn reasoning_form_of_responses_upstreams_is_refused() {
    let reason = "reasoning items of the Responses API pass in their own form";
    let sentence = |apis: &str| {
        format!(
            "this has an effect only with {apis}, or such an 'api' below [[upstreams]]: {reason}"
        )
    };
    let responses = ["--upstream", "http://127.0.0.1:9/v1"];
    let flags = [&responses[..], &["--reasoning-as", "content"]].concat();
    let apis = sentence("--upstream-api chat or --upstream-api anthropic");
    refused(World::serve(&flags), &format!("--reasoning-as: {apis}"));
    let apis = sentence("ANTIPHON_UPSTREAM_API=chat or ANTIPHON_UPSTREAM_API=anthropic");
    let variable = World::serve(&responses).variable("ANTIPHON_REASONING_AS", "content");
    refused(variable, &format!("ANTIPHON_REASONING_AS: {apis}"));
    let apis = sentence("upstream-api = \"chat\" or upstream-api = \"anthropic\"");
    let text = "upstream = 'http://127.0.0.1:9/v1'\nreasoning-as = 'content'";
    file_refused(text, &format!("2: reasoning-as: {apis}"));
    let upstream = "[[upstreams]]\nmodels = ['a*']\nurl = 'http://127.0.0.1:9/v1'\n";
    let wrong = format!("{upstream}reasoning-as = 'content'\n");
    let apis = "this has an effect only with api = \"chat\" or \"anthropic\"";
    file_refused(&wrong, &format!("4: reasoning-as: {apis}: {reason}"));

    let chat = format!("{upstream}api = 'chat'\nreasoning-as = 'content'\n");
    World::serve(&ANY_PORT).file("antiphon.toml", &chat).ready();
    let general = format!("reasoning-as = 'content'\n{upstream}api = 'anthropic'\n");
    World::serve(&ANY_PORT).file("antiphon.toml", &general).ready();
}

#[test]
fn limit_hidden_by_another_limit_is_rejected() {
    let upstream = "[[upstreams]]\nmodels = ['*']\nurl = 'http://127.0.0.1:9/v1'\n";
    file_refused(
        &format!("{upstream}idle-timeout = 7200\n"),
        "4: idle-timeout has no effect above total-timeout, which is 3600 seconds: raise \
         total-timeout too",
    );
    file_refused(
        "[limits]\nmax-item-bytes = 67108864\n",
        "2: max-item-bytes has no effect above max-body-bytes, which is 33554432: raise \
         max-body-bytes too",
    );
    file_refused(
        "[limits]\nmax-tenant-items = 10\nmax-conversation-items = 11\n",
        "3: max-conversation-items: this has no effect above max-tenant-items, which is 10: raise \
         max-tenant-items too",
    );
    let raised = format!(
        "{upstream}idle-timeout = 7200\ntotal-timeout = 7200\n[limits]\nmax-item-bytes = \
         67108864\nmax-body-bytes = 67108864\n"
    );
    World::serve(&ANY_PORT).file("antiphon.toml", &raised).ready();
}

#[test]
fn token_header_cannot_name_tenants() {
    for name in ["authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"] {
        let sentence = format!("--tenant-header: '{name}' is not a header that can name a tenant");
        refused(World::serve(&["--tenant-header", name]), &sentence);
    }
}

#[test]
fn tenant_with_a_leading_space_is_rejected() {
    let sentence = "--api-key: the tenant ' acme' begins or ends with a space";
    refused(World::serve(&["--api-key", "key= acme"]), sentence);
}

#[test]
fn gateway_as_its_own_upstream_is_rejected() {
    for (listen, url) in [
        ("127.0.0.1:8484", "http://127.0.0.1:8484/v1"),
        ("127.0.0.1:8484", "http://localhost:8484/v1"),
        ("0.0.0.0:80", "http://127.0.0.1/v1"),
        ("[::1]:8484", "http://[::1]:8484/v1"),
    ] {
        let sentence = |listening: &str| {
            format!(
                "'{url}' is this gateway itself, which listens on {listen} ({listening}), so each \
                 request would cause another one without end; give the URL of a model server"
            )
        };
        let flags = World::serve(&["--listen", listen, "--upstream", url]);
        refused(flags, &format!("--upstream: {}", sentence("--listen")));
        let variables = World::serve(&[])
            .variable("ANTIPHON_LISTEN", listen)
            .variable("ANTIPHON_UPSTREAM", url);
        refused(variables, &format!("ANTIPHON_UPSTREAM: {}", sentence("ANTIPHON_LISTEN")));
        let text = format!("listen = '{listen}'\n[[upstreams]]\nmodels = ['m']\nurl = '{url}'");
        let file = World::serve(&[]).file("antiphon.toml", &text);
        let here = sentence("listen (antiphon.toml:1)");
        refused(file, &format!("antiphon.toml:4: url: {here}"));
    }
    World::serve(&["--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:8484/v1"]).ready();
}

#[test]
fn misspelt_log_level_is_rejected() {
    for filter in ["debgu", "warn,inf"] {
        let word = filter.rsplit(',').next().unwrap();
        let sentence = format!(
            "ANTIPHON_LOG: '{word}' is neither a level (off, error, warn, info, debug, trace) nor \
             TARGET=LEVEL"
        );
        refused(World::serve(&ANY_PORT).variable("ANTIPHON_LOG", filter), &sentence);
    }
    World::serve(&ANY_PORT).variable("ANTIPHON_LOG", "WARN,hyper=info,antiphon").ready();
}

const NO_PORT: &str = "port 99999 does not exist; ports are 1 to 65535";
const SECRET: &str = "secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'\n";

#[test]
fn host_name_without_host_checks_is_rejected() {
    let accepted = "every host name is accepted";
    let cases: [(&[&str], &str); 3] = [
        (&["--api-key", "key=acme"], "with --api-key"),
        (&["--tenant-header", "x-tenant"], "with --tenant-header"),
        (
            &["--listen", "0.0.0.0:0", "--upstream", "http://127.0.0.1:9/v1"],
            "with --listen 0.0.0.0:0, which is not a loopback address",
        ),
    ];
    for (args, cause) in cases {
        let args = [&["--allow-host", "gateway.internal"], args].concat();
        let sentence = format!("--allow-host: this has no effect {cause}: {accepted}");
        refused(World::serve(&args), &sentence);
    }
    file_refused(
        "allow-hosts = ['gateway.internal']\napi-keys = ['key=acme']\n",
        &format!("1: allow-hosts: this has no effect with api-keys (antiphon.toml:2): {accepted}"),
    );
    let origin = ["--api-key", "key=acme", "--allow-origin", "https://app.example"];
    World::serve(&[&ANY_PORT[..], &origin].concat()).ready();
    World::serve(&[&ANY_PORT[..], &["--allow-host", "gateway.internal"]].concat()).ready();
}
