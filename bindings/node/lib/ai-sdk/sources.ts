import type { Item } from "./items.js";

/** The relation of a repaired list to its input. */
export interface Sources {
  /**
   * The remaining items by their input position: the same object, or one with other ids.
   */
  readonly left: ReadonlyMap<number, Item>;
  /** The added items, each with the input position of the item before it, if there is one. */
  readonly added: readonly { readonly item: Item; readonly after: number | undefined }[];
}

/**
 * Finds the input items in a repaired list. An unchanged item is the same object, a changed item
 * differs only in its ids, and all others were added.
 */
export function sourcesOf(given: readonly Item[], repaired: readonly Item[]): Sources {
  const positions = new Map(given.map((item, position) => [item, position]));
  const left = new Map<number, Item>();
  const added: { item: Item; after: number | undefined }[] = [];
  let after: number | undefined;
  for (const [at, item] of repaired.entries()) {
    const unchanged = positions.get(item);
    const position = unchanged ?? findChanged(given, item, after, next(positions, repaired, at));
    if (position === undefined) {
      added.push({ item, after });
    } else {
      left.set(position, item);
      after = position;
    }
  }
  return { left, added };
}

/** The input position of the first unchanged item after `at`. */
function next(
  positions: Map<Item, number>,
  repaired: readonly Item[],
  at: number,
): number | undefined {
  const unchanged = repaired.slice(at + 1).find((item) => positions.has(item));
  return unchanged === undefined ? undefined : positions.get(unchanged);
}

/** The input position of an item whose ids were changed, between two known positions. */
function findChanged(
  given: readonly Item[],
  item: Item,
  after: number | undefined,
  before: number | undefined,
): number | undefined {
  const content = withoutIds(item);
  const from = after === undefined ? 0 : after + 1;
  const offset = given.slice(from, before).findIndex((other) => withoutIds(other) === content);
  return offset < 0 ? undefined : from + offset;
}

function withoutIds({ id: _id, call_id: _callId, ...rest }: Item): string {
  return JSON.stringify(rest);
}
