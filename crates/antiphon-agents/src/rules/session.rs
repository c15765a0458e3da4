//! The items that a session removes again.

use antiphon::item::Item;

/// Returns the number of items to pop from `stored` to remove `tail`. `None` if `stored` does not
/// end with exactly these items: then nothing may be popped.
///
/// Another writer may have added items since. A store that has to pop before it can compare puts
/// the popped items back if this returns `None`.
pub(crate) fn count_tail_to_pop(stored: &[Item], tail: &[Item]) -> Option<usize> {
    let start = stored.len().checked_sub(tail.len())?;
    let is_same = |(one, two): (&Item, &Item)| one.raw() == two.raw();
    stored[start..].iter().zip(tail).all(is_same).then_some(tail.len())
}
