use antiphon_store::{ResponseId, Shard};
use serde_json::{Value, json};

use super::*;
use crate::entropy::RandomIds;
use crate::settings::SigningSecret;

const NOW: i64 = 1_767_225_601;

fn webhook(url: &str) -> Webhook {
    let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    Webhook::new(url.parse().unwrap(), secret)
}

#[test]
fn endpoints_receive_only_subscribed_events() {
    let [acme, globex] = ["acme", "globex"].map(Tenant::new);
    let mut of_acme = webhook("https://acme.example/");
    of_acme.tenants = vec![acme.clone()];
    let mut of_failures = webhook("https://failures.example/");
    of_failures.events = vec![WebhookEvent::Failed];
    let webhooks = Webhooks::new(&[of_acme, of_failures]).unwrap();
    let response = ResponseId::issue(Shard(7), &mut RandomIds);
    let notices = |tenant: &Tenant, status| {
        let notices = webhooks.notices(tenant, response.as_str(), status, NOW);
        let mut notices: Vec<String> = notices.into_iter().map(|notice| notice.endpoint).collect();
        notices.sort();
        notices
    };

    let (one, two) = ("https://acme.example/", "https://failures.example/");
    assert_eq!(notices(&acme, Status::Failed), [one, two]);
    assert_eq!(notices(&acme, Status::Completed), [one]);
    assert_eq!(notices(&globex, Status::Failed), [two]);
    assert_eq!(notices(&globex, Status::Incomplete), [""; 0]);
}

#[test]
fn event_has_its_own_id_and_its_response() {
    let webhooks = Webhooks::new(&[webhook("https://one.example/")]).unwrap();
    let response = ResponseId::issue(Shard(7), &mut RandomIds);
    let notices = |status| {
        let notices = webhooks.notices(&Tenant::new("acme"), response.as_str(), status, NOW);
        let [notice] = <[Notice; 1]>::try_from(notices).unwrap();
        let body: Value = serde_json::from_slice(&notice.body).unwrap();
        assert_eq!(body["id"], notice.id);
        assert_eq!(notice.due_at, NOW);
        (notice.id, body)
    };

    let (id, body) = notices(Status::Cancelled);
    let expected = json!({
        "id": id,
        "object": "event",
        "created_at": NOW,
        "type": "response.cancelled",
        "data": {"id": response.as_str()},
    });
    assert_eq!(body, expected);
    assert!(id.starts_with("evt_"), "{id}");
    assert_ne!(notices(Status::Cancelled).0, id);
}

#[test]
fn endpoints_are_checked() {
    let twice = [webhook("https://one.example/"), webhook("https://one.example/")];
    assert_eq!(Webhooks::new(&twice).err().as_deref(), Some("two webhooks have the same url"));
    assert!(Webhooks::new(&[webhook("http://one.example/")]).is_err());
}
