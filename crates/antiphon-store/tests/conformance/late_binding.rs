//! Conversations that begin without an upstream, and are bound at their first turn.

use antiphon_store::{Binding, ConversationId};
use futures_util::future::join_all;

use super::World;
use super::ledgers::{named, of_conversation};
use super::world::items;

impl World {
    async fn unbound(&self, names: &[&str]) -> ConversationId {
        let conversation = self.new_conversation();
        let (id, items) = (conversation.id.clone(), items(names));
        let created =
            self.ledgers().create_unbound(&self.tenant, conversation, self.thread(), items);
        created.await.unwrap();
        id
    }

    async fn binding(&self, id: &ConversationId) -> Option<Binding> {
        self.ledgers().binding(&self.tenant, id).await.unwrap()
    }

    async fn bind(&self, id: &ConversationId, name: &str) -> bool {
        let bound = self.ledgers().bind(&self.tenant, id, named(name), self.thread(), None);
        bound.await.unwrap()
    }

    async fn bind_locally(&self, id: &ConversationId) -> bool {
        self.ledgers().bind_locally(&self.tenant, id).await.unwrap()
    }
}

pub(crate) async fn conversation_without_upstream_is_pending(world: World) {
    let id = world.unbound(&["a", "b"]).await;
    world.append(&id, &["c"]).await.unwrap();

    assert_eq!(world.binding(&id).await, Some(Binding::Pending));
    assert_eq!(world.listed(&id).await, ["a", "b", "c"]);
    let other = world.conversation(&[]).await;
    assert_eq!(world.binding(&other).await, None);
    assert_eq!(world.seen_by("bob").binding(&id).await, None);
}

pub(crate) async fn bound_conversation_is_ledger_of_provider(world: World) {
    let id = world.unbound(&["a"]).await;

    assert!(world.bind(&id, "conv_x").await);

    assert_eq!(world.binding(&id).await, Some(Binding::Bound(named("conv_x"))));
    assert_eq!(world.entry("conv_x").await, Some(of_conversation(&id, true)));
    assert_eq!(world.listed(&id).await, [""; 0]);
    assert_eq!(world.held(&["a"]).await, [""; 0], "its words are the provider's");
    let (conversation, _) = world.store.conversation(&world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(&*conversation.metadata, b"{}");
}

pub(crate) async fn conversation_is_bound_once(world: World) {
    let id = world.unbound(&[]).await;
    assert!(world.bind(&id, "conv_x").await);

    assert!(!world.bind(&id, "conv_y").await);
    assert!(!world.bind_locally(&id).await);

    assert_eq!(world.binding(&id).await, Some(Binding::Bound(named("conv_x"))));
    assert_eq!(world.entry("conv_y").await, None);
    let adopted = world.adopted("conv_z").await;
    assert!(!world.bind(&adopted, "conv_y").await);
    assert_eq!(world.binding(&adopted).await, None);
}

pub(crate) async fn one_of_many_concurrent_bindings_succeeds(world: World) {
    let id = world.unbound(&["a"]).await;
    let names: Vec<String> = (0..8).map(|number| format!("conv_{number}")).collect();

    let bound = join_all(names.iter().map(|name| world.bind(&id, name))).await;

    assert_eq!(bound.iter().filter(|bound| **bound).count(), 1);
    let winner = &names[bound.iter().position(|bound| *bound).unwrap()];
    assert_eq!(world.binding(&id).await, Some(Binding::Bound(named(winner))));
    for name in &names {
        assert_eq!(world.entry(name).await.is_some(), name == winner);
    }
}

pub(crate) async fn local_conversation_cannot_be_bound(world: World) {
    let id = world.unbound(&["a"]).await;

    assert!(world.bind_locally(&id).await);

    assert!(!world.bind_locally(&id).await);
    assert!(!world.bind(&id, "conv_x").await);
    assert_eq!(world.binding(&id).await, None);
    assert_eq!(world.listed(&id).await, ["a"]);
}

pub(crate) async fn deleted_conversation_cannot_be_bound(world: World) {
    let id = world.unbound(&["a"]).await;
    assert!(world.delete_conversation(&id).await);

    assert!(!world.bind(&id, "conv_x").await);
    assert!(!world.bind_locally(&id).await);
    assert_eq!(world.binding(&id).await, None);
    assert_eq!(world.entry("conv_x").await, None);
}

pub(crate) async fn deletion_of_bound_conversation_frees_its_name(world: World) {
    let id = world.unbound(&["a"]).await;
    world.bind(&id, "conv_x").await;

    assert!(world.forget("conv_x").await);

    assert_eq!(world.binding(&id).await, None);
    assert_eq!(world.store.conversation(&world.tenant, &id).await, Ok(None));
}
