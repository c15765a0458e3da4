//! The values of the inspector: lists, turns and lanes, read from the store of a gateway that runs.

mod access;
mod broken;
mod lists;
mod turns;

use antiphon_gateway::inspect::model::{Card, ConversationPage, ConversationView, Fate, TurnView};
use antiphon_gateway::inspect::{Inspector, ListQuery, PageQuery};
use antiphon_gateway::settings::Prices;
use antiphon_store::{Listings, Tenant};

use crate::support::World;

/// What the store of a world has now.
struct Store {
    listings: Box<dyn Listings>,
    tenant: Tenant,
    prices: Prices,
}

impl Store {
    /// The store of a world with one tenant.
    async fn read(world: &World) -> Self {
        let (listings, tenant) = world.listings().await;
        Self { listings, tenant, prices: Prices::default() }
    }

    fn inspector(&self) -> Inspector<'_> {
        Inspector::new(&*self.listings, &self.tenant, &self.prices)
    }

    async fn list(&self, query: &ListQuery) -> ConversationPage {
        self.inspector().conversations(query).await.expect("it is there")
    }

    async fn view(&self, id: &str) -> ConversationView {
        let view =
            self.inspector().conversation(id, &PageQuery::default()).await.expect("it is there");
        view.unwrap_or_else(|| panic!("{id} is found"))
    }

    async fn turn(&self, id: &str) -> TurnView {
        self.inspector()
            .turn(id)
            .await
            .expect("it is there")
            .unwrap_or_else(|| panic!("{id} is found"))
    }
}

/// The kinds and texts of cards, with the first words of their fates.
fn lines(cards: &[Card]) -> Vec<String> {
    let line = |card: &Card| {
        let fates: Vec<&str> = card.fates.iter().map(word).collect();
        let text = card.text.as_deref().unwrap_or_default();
        format!("{} {text} [{}]", card.kind, fates.join(", "))
    };
    cards.iter().map(line).collect()
}

fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::New => "new",
        Fate::Known { differs: false, .. } => "known",
        Fate::Known { differs: true, .. } => "differs",
        Fate::Repaired { .. } => "repaired",
        Fate::LeftOut { .. } => "left out",
        Fate::Placeholder { .. } => "placeholder",
        Fate::Deleted => "deleted",
        Fate::Compacted => "compacted",
        Fate::Truncated => "truncated",
    }
}
