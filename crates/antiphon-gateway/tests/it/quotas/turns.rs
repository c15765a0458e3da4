//! Turns: refused before a model is asked.

use antiphon_mock::{Answer, Reply};

use super::{Bound, QUOTAS, assert_quota_error, assert_refused, items};
use crate::support::{MODEL, MODES, Mode, World, ask, create, lines, reference, text, typed_user};

#[tokio::test]
async fn full_quota_rejects_turns_before_the_model() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.respond(&ask("Hello").within(&conversation)).await;

        for mode in MODES {
            let more = ask("Hello again").within(&conversation);
            assert_refused(&client.create(mode, &more).await, quota);
        }

        assert_eq!(world.times_asked(), 1, "{quota:?}");
        assert_eq!(client.items(&conversation).await.len(), 2, "{quota:?}");
        // Another tenant, and another conversation, have a quota of their own.
        world.caller("token-of-bob").respond(&ask("Hello")).await;
        let elsewhere = ask("Hello").within(&client.new_conversation().await);
        let answer = client.create(Mode::Whole, &elsewhere).await;
        match quota.is_of_tenant() {
            true => assert_refused(&answer, quota),
            false => assert_eq!(answer.status(), 200),
        }
    }
}

#[tokio::test]
async fn tenant_quota_bounds_turns_without_a_conversation() {
    for quota in [Bound::TenantItems, Bound::TenantBytes] {
        let world = quota.world().await;
        let client = world.client();
        let first = client.respond(&ask("Hello")).await;

        for mode in MODES {
            assert_refused(&client.create(mode, &ask("Hello")).await, quota);
            assert_refused(&client.create(mode, &ask("Hello").after(first.id())).await, quota);
        }

        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn conversation_quota_does_not_bound_chains() {
    let world = Bound::ConversationItems.world().await;
    let client = world.client();
    let first = client.respond(&ask("Hello")).await;
    let second = client.respond(&ask("Hello again").after(first.id())).await;
    client.respond(&ask("And again").after(second.id())).await;
}

#[tokio::test]
async fn rejection_is_worded_for_the_caller() {
    let world = Bound::ConversationItems.world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Hello").within(&conversation)).await;

    let refused = client.refused(Mode::Whole, &ask("More").within(&conversation)).await;

    let error = &refused.body["error"];
    assert_eq!(
        error["message"],
        "Quota exceeded: this conversation may have 2 items stored (max-conversation-items). It \
         has 2, and this request adds 1. Delete items of the conversation, or begin a new one, or \
         ask the operator of the gateway for a higher quota."
    );
    assert_eq!(error["param"], "conversation");
}

#[tokio::test]
async fn answer_to_an_accepted_turn_is_stored_whole() {
    let world = World::with(|settings| {
        settings.limits.tenant_quota = items(1);
        settings.limits.conversation_quota = items(1);
    })
    .await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    world.script(Reply::sse(Answer::new(MODEL).message("Once upon a time").frames()));

    let turn = client.turn(Mode::Streamed, &ask("Tell me a tale").within(&conversation)).await;

    assert_eq!(turn.status(), "completed");
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held, ["user: Tell me a tale", "assistant: Once upon a time"]);
    assert_eq!(client.stored_response(turn.id()).await["status"], "completed");
}

#[tokio::test]
async fn unstored_turn_is_accepted_at_a_full_quota() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let first = client.respond(&ask("Hello").within(&conversation)).await;

        for mode in MODES {
            client.turn(mode, &ask("Hello").unstored()).await;
            client.turn(mode, &ask("Hello").unstored().after(first.id())).await;
            // Without a record of the response, the conversation gets the items all the same.
            let within = ask("Hello").unstored().within(&conversation);
            assert_refused(&client.create(mode, &within).await, quota);
        }
    }
}

#[tokio::test]
async fn only_new_items_of_the_input_count() {
    let world = World::with(|settings| settings.limits.conversation_quota = items(3)).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let held = client.add_items(&conversation, &[typed_user("One"), typed_user("Two")]).await;
    let again =
        |more| ask([reference(&held[0]["id"]), held[1].clone(), more]).within(&conversation);

    let two_more = ask([typed_user("Three"), typed_user("Four")]).within(&conversation);
    assert_refused(&client.create(Mode::Whole, &two_more).await, Bound::ConversationItems);
    client.respond(&again(typed_user("Three"))).await;

    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn deleting_frees_the_quota() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let first = client.respond(&ask("Hello").within(&conversation)).await;
        let more = ask("Hello again").within(&conversation);
        assert_refused(&client.create(Mode::Whole, &more).await, quota);

        for item in client.items(&conversation).await {
            let path = format!("/v1/conversations/{conversation}/items/{}", text(&item["id"]));
            assert_eq!(client.delete(&path).await.status(), 200);
        }
        let second = client.respond(&more).await;
        assert_refused(&client.create(Mode::Whole, &more).await, quota);

        // A conversation's items are those of its responses too.
        let of_conversation = format!("/v1/conversations/{conversation}");
        assert_eq!(client.delete(&of_conversation).await.status(), 200);
        if quota.is_of_tenant() {
            assert_refused(&client.create(Mode::Whole, &ask("Hello")).await, quota);
        }
        for response in [&first, &second] {
            let path = format!("/v1/responses/{}", response.id());
            assert_eq!(client.delete(&path).await.status(), 200);
        }
        client.respond(&ask("Hello")).await;
    }
}

#[tokio::test]
async fn completed_turn_is_replayed_at_a_full_quota() {
    for quota in QUOTAS {
        for mode in MODES {
            let world = quota.world().await;
            let client = world.client().with_header("idempotency-key", "k");
            let question = ask("Hello").within(&client.new_conversation().await);
            let first = client.turn(mode, &question).await;

            let again = client.turn(mode, &question).await;

            assert_eq!(again.header("antiphon-answered-again"), Some("true"), "{quota:?}");
            assert_eq!(again.response, first.response);
            let other = world.client().with_header("idempotency-key", "l");
            assert_refused(&other.create(mode, &question).await, quota);
            assert_eq!(world.times_asked(), 1);
        }
    }
}

#[tokio::test]
async fn rejected_websocket_turn_keeps_its_connection() {
    for quota in QUOTAS {
        let world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let mut socket = client.socket().await;
        socket.turn(&ask("Hello").within(&conversation)).await;

        for more in [ask("More"), ask("Warm up").field("generate", false)] {
            socket.send(&create(&more.within(&conversation))).await;
            let (status, error) = socket.refused().await;
            assert_eq!(status, 403);
            assert_quota_error(&error, quota);
        }

        assert_eq!(world.times_asked(), 1);
        assert_eq!(socket.turn(&ask("Hello").unstored()).await.status(), "completed");
    }
}

#[tokio::test]
async fn quota_counts_stored_items_after_a_restart() {
    for quota in QUOTAS {
        let mut world = quota.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.respond(&ask("Hello").within(&conversation)).await;

        world.kill_and_start().await;

        let more = ask("More").within(&conversation);
        assert_refused(&world.client().create(Mode::Whole, &more).await, quota);
    }
}
