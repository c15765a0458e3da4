import type { Mend } from "../repair.js";
import type { Item } from "./items.js";
import { idsOf, type Ledger } from "./ledger.js";
import type { Sources } from "./sources.js";
import type { Assumed } from "./turn.js";

/**
 * Removes ids from items of a prompt that must be sent in full. With an id, a provider would only
 * refer to the stored item, but the item may not be stored under this id, or belongs to another
 * conversation.
 *
 * The server stores such a message under a new id. In its list, the message is recognized as one
 * without an id; the ledger remembers it under the program's id.
 */
export class IdRemoval {
  /** The items in the form in which the server's list contains them: messages without their ids. */
  readonly items: readonly Item[];
  /** The original of each message without its id. */
  readonly #originals = new Map<Item, Item>();
  readonly #affected: ReadonlySet<Item>;

  constructor(
    private readonly given: readonly Item[],
    ledger: Ledger,
    assumed: Assumed | undefined,
  ) {
    const held = new Set(idsOf(assumed?.known.items ?? []));
    const isUnknown = (item: Item) => ledger.isUncertain(item) || isFromElsewhere(item, assumed);
    const isAffected = (item: Item) => !held.has(item["id"] as string) && isUnknown(item);
    this.#affected = new Set(given.filter(isAffected));
    this.items = given.map((item) => this.#withoutId(item));
  }

  /** Whether the id of an original item of the prompt is removed. */
  has(item: Item): boolean {
    return this.#affected.has(item);
  }

  /** The repairs of items that are sent. */
  mends({ left }: Sources): Mend[] {
    return this.given.flatMap((item, position) => {
      const isReported = this.has(item) && left.has(position) && isSentInFull(item);
      return isReported ? [withoutId(position, String(item["id"]))] : [];
    });
  }

  /** The original of a sent item, with the id that the program uses. */
  originalOf(sent: Item): Item {
    return this.#originals.get(sent) ?? sent;
  }

  #withoutId(item: Item): Item {
    if (item.type !== "message" || !this.has(item)) return item;
    const { id: _, ...rest } = item;
    this.#originals.set(rest, item);
    return rest;
  }
}

/** Whether an id belongs to another conversation. The provider would leave out such an item. */
function isFromElsewhere({ type, id }: Item, assumed: Assumed | undefined): boolean {
  if (assumed?.state.by !== "conversation" || !assumed.known.isAll) return false;
  return type !== "reasoning" && id !== undefined;
}

/** Whether the item is sent in full without an id. Hosted calls use their id as the call id. */
function isSentInFull({ type, call_id }: Item): boolean {
  return type === "message" || call_id !== undefined;
}

function withoutId(position: number, id: string): Mend {
  const message = `Item with id '${id}' not found.`;
  const [fault, action] = ["unresolved_reference", "id_removed"];
  return { position, id, fault, action, message, code: null, param: "input" };
}
