//! Reasoning has to be followed by what the model made of it.

use super::Draft;
use crate::faults::Fault;
use crate::item::Kind;

pub(super) fn mend(draft: &mut Draft) {
    let mut lone = Vec::new();
    let mut followed = false;
    for (position, item) in draft.items().rev() {
        let head = item.head();
        if head.kind != Kind::Reasoning {
            followed = head.is_model_made();
        } else if !followed {
            lone.push((
                position,
                Fault::LoneReasoning {
                    id: head.id.clone(),
                },
            ));
        }
    }
    for (position, fault) in lone {
        draft.drop_item(position, fault);
    }
}
