use antiphon_gateway::settings::{Allowed, SigningSecret, WebhookEvent};

use super::*;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn refusal_of(text: &str) -> String {
    let environment = variables([("WEBHOOK_SECRET", "weak")]);
    resolved(SettingsArgs::default(), environment, text).unwrap_err().to_string()
}

#[test]
fn webhook_is_read_from_the_file() {
    let text = "api-keys = ['key=acme']\n\
                [[webhooks]]\n\
                url = 'http://hooks.internal/a'\n\
                secret-env = 'WEBHOOK_SECRET'\n\
                tenants = ['acme']\n\
                events = ['response.failed', 'response.cancelled']\n\
                allow = ['10.0.0.0/8', 'hooks.internal']\n";
    let environment = variables([("WEBHOOK_SECRET", SECRET)]);
    let gateway = configuration(SettingsArgs::default(), environment, text).gateway;

    let [webhook] = &gateway.webhooks[..] else { panic!("there is one") };
    assert_eq!(webhook.url, "http://hooks.internal/a");
    assert_eq!(Some(&webhook.secret), SigningSecret::parse(SECRET).as_ref());
    assert_eq!(webhook.tenants, [Tenant::new("acme")]);
    assert_eq!(webhook.events, [WebhookEvent::Failed, WebhookEvent::Cancelled]);
    let allowed = ["10.0.0.0/8", "hooks.internal"].map(|text| Allowed::parse(text).unwrap());
    assert_eq!(webhook.allow, allowed);
}

#[test]
fn invalid_webhook_is_rejected_without_its_secret() {
    let url = "url = 'https://hooks.example/a'";
    let with = |line: &str| format!("[[webhooks]]\n{url}\nsecret = '{SECRET}'\n{line}");
    let keys = "url, secret, secret-env, tenants, events, allow";
    for (text, sentence) in [
        (
            "webhooks = 1".to_owned(),
            "1: webhooks must be tables, each below [[webhooks]]".to_owned(),
        ),
        (with("foo = 1"), format!("4: unknown key 'foo'; a webhook's keys are {keys}")),
        (format!("[[webhooks]]\n{url}"), "1: this webhook lacks 'secret'".into()),
        (format!("[[webhooks]]\nsecret = '{SECRET}'"), "1: this webhook lacks 'url'".into()),
        (
            format!("[[webhooks]]\n{url}\nsecret-env = 'WEBHOOK_SECRET'"),
            "3: secret-env: this is not whsec_ and then 24 to 64 bytes in base64".into(),
        ),
        (
            format!("[[webhooks]]\n{url}\nsecret-env = 'NOBODYS'"),
            "3: secret-env: the variable NOBODYS is not set, or is empty".into(),
        ),
        (
            with("secret-env = 'WEBHOOK_SECRET'"),
            "4: secret-env: a webhook has 'secret' or 'secret-env', not both".into(),
        ),
        (
            format!("[[webhooks]]\nurl = 'http://hooks.example/'\nsecret = '{SECRET}'"),
            "2: url: a webhook's url must begin with https://, unless allow names its host".into(),
        ),
        (with(&format!("\n{}", with(""))), "5: another webhook has the same url".into()),
    ] {
        let refusal = refusal_of(&text);
        assert_eq!(refusal, format!("antiphon.toml:{sentence}"), "{text}");
        assert!(!refusal.contains("whsec_Mf"), "{refusal}");
    }
    assert!(
        refusal_of(&with("events = ['response.begun']"))
            .starts_with("antiphon.toml:4: events must be")
    );
    assert!(
        refusal_of(&with("allow = ['10.0.0.0/99']")).starts_with("antiphon.toml:4: allow must be")
    );
}
