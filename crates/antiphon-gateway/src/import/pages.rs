//! The pages of the API's list of items, which together must be the whole list.

use antiphon::json::Object;
use serde_json::value::RawValue;

use super::flaw::{Flaw, Source};

/// The pages of a list so far.
#[derive(Default)]
pub(super) struct Pages {
    count: usize,
    /// The place of the last page, and whether others follow it (`has_more`).
    last: Option<(Place, bool)>,
    /// The first page whose items are in another order than the API sent them.
    reordered: Option<Place>,
}

/// The place of a page, and the id of its last item.
struct Place {
    source: Source,
    line: u64,
    last_id: String,
}

impl Pages {
    /// Adds a page with these items. Rejects a page after the last one of the list.
    pub(super) fn add(
        &mut self,
        source: &Source,
        line: u64,
        page: &Object<'_>,
        items: &[&RawValue],
    ) -> Result<(), Flaw> {
        if let Some((last, false)) = &self.last {
            return Err(last.flaw(
                "this page is the last of its list ('has_more' is false), but another page \
                 follows it; give the pages in the order in which the API lists them, or the \
                 items of several lists as one array",
            ));
        }
        let id = |item: Option<&&RawValue>| item.and_then(|item| string(item.get(), "id"));
        let (first, last) = (id(items.first()), id(items.last()));
        let place =
            || Place { source: source.clone(), line, last_id: last.clone().unwrap_or_default() };
        if is_other(page, "first_id", first.as_deref())
            || is_other(page, "last_id", last.as_deref())
        {
            self.reordered.get_or_insert_with(place);
        }
        self.count += 1;
        self.last = match page.present("has_more") {
            Some("true") => Some((place(), true)),
            Some("false") => Some((place(), false)),
            _ => None,
        };
        Ok(())
    }

    /// Whether there is a page.
    pub(super) fn has_any(&self) -> bool {
        self.count > 0
    }

    /// Rejects a list without its last page, and several pages with items in another order than
    /// the API sent them: the order of such a list is not known.
    pub(super) fn check(&self) -> Result<(), Flaw> {
        if let Some((last, true)) = &self.last {
            let id = &last.last_id;
            return Err(last.flaw(&format!(
                "the list has more items than this file ('has_more' is true in the last page); \
                 give the next pages too, from ?after={id} on, or import only these items: the \
                 array in 'data'"
            )));
        }
        match &self.reordered {
            Some(page) if self.count > 1 => Err(page.flaw(
                "the items of this page are not in the order of the API ('first_id' and \
                 'last_id' name others); give the pages as the API sent them",
            )),
            _ => Ok(()),
        }
    }
}

impl Place {
    fn flaw(&self, sentence: &str) -> Flaw {
        self.source.at(self.line, sentence)
    }
}

/// Whether the page names another item in this field than the one that it has there.
fn is_other(page: &Object<'_>, field: &str, id: Option<&str>) -> bool {
    let named = page.string(field);
    named.zip(id).is_some_and(|(named, id)| named != id)
}

fn string(raw: &str, field: &str) -> Option<String> {
    Object::parse_str(raw).ok()?.string(field).map(std::borrow::Cow::into_owned)
}
