import type { Item } from "./items.js";

/** What became of the items that were given. */
export interface Sources {
  /**
   * For the position of each that stays what it is now: the same object, or one under other ids.
   */
  readonly left: ReadonlyMap<number, Item>;
  /**
   * What was made up, with the position of what it stands behind: before all, it stands behind
   * none.
   */
  readonly made: readonly { readonly item: Item; readonly behind: number | undefined }[];
}

/**
 * Finds the given items in a mended list: what stays is the same object, what was changed says the
 * same under other ids, and the rest was made up.
 */
export function sourcesOf(given: readonly Item[], mended: readonly Item[]): Sources {
  const positions = new Map(given.map((item, position) => [item, position]));
  const left = new Map<number, Item>();
  const made: { item: Item; behind: number | undefined }[] = [];
  let behind: number | undefined;
  for (const [at, item] of mended.entries()) {
    const kept = positions.get(item);
    const position = kept ?? changed(given, item, behind, next(positions, mended, at));
    if (position === undefined) {
      made.push({ item, behind });
    } else {
      left.set(position, item);
      behind = position;
    }
  }
  return { left, made };
}

/** The position of the first item behind `at` that stays as it is. */
function next(
  positions: Map<Item, number>,
  mended: readonly Item[],
  at: number,
): number | undefined {
  const kept = mended.slice(at + 1).find((item) => positions.has(item));
  return kept === undefined ? undefined : positions.get(kept);
}

function changed(
  given: readonly Item[],
  item: Item,
  behind: number | undefined,
  before: number | undefined,
): number | undefined {
  const says = withoutIds(item);
  const from = behind === undefined ? 0 : behind + 1;
  const place = given.slice(from, before).findIndex((other) => withoutIds(other) === says);
  return place < 0 ? undefined : from + place;
}

function withoutIds({ id: _id, call_id: _callId, ...rest }: Item): string {
  return JSON.stringify(rest);
}
