import type { Mend } from "../repair.js";
import type { Item } from "./items.js";
import { idsOf, type Ledger } from "./ledger.js";
import type { Sources } from "./sources.js";
import type { Believed } from "./turn.js";

/**
 * The items of a prompt that are to be sent as they are, without the ids under which a provider
 * would only refer to them: nobody knows whether they are stored under these, or they are another
 * conversation's.
 *
 * A server that got such a message holds it under an id that nobody here was told. Where it is
 * asked, the message is known again as one without an id; what was sent from here is remembered
 * under the id that the program knows.
 */
export class Freed {
  /** The items as a server may know them again: messages that are freed without their ids. */
  readonly items: readonly Item[];
  /** For each message that is freed, as it stands in `items`, how it was given. */
  readonly #given = new Map<Item, Item>();
  readonly #freed: ReadonlySet<Item>;

  constructor(
    private readonly given: readonly Item[],
    ledger: Ledger,
    believed: Believed | undefined,
  ) {
    const held = new Set(idsOf(believed?.known.items ?? []));
    const isFreed = (item: Item) =>
      !held.has(item["id"] as string) && (ledger.isDoubtful(item) || isOfElsewhere(item, believed));
    this.#freed = new Set(given.filter(isFreed));
    this.items = given.map((item) => this.#unnamed(item));
  }

  /** Whether an item of the prompt, as it was given, is freed. */
  has(item: Item): boolean {
    return this.#freed.has(item);
  }

  /** What was done to those that are left to be sent. */
  mends({ left }: Sources): Mend[] {
    return this.given.flatMap((item, position) => {
      const isTold = this.has(item) && left.has(position) && isSaidAnew(item);
      return isTold ? [withoutId(position, String(item["id"]))] : [];
    });
  }

  /** An item that was sent, under the id by which the program will name it again. */
  known(sent: Item): Item {
    return this.#given.get(sent) ?? sent;
  }

  #unnamed(item: Item): Item {
    if (item.type !== "message" || !this.has(item)) return item;
    const { id: _, ...unnamed } = item;
    this.#given.set(unnamed, item);
    return unnamed;
  }
}

/** A provider leaves out what bears an id, because it takes it for the conversation's own. */
function isOfElsewhere({ type, id }: Item, believed: Believed | undefined): boolean {
  if (believed?.state.by !== "conversation" || !believed.known.isAll) return false;
  return type !== "reasoning" && id !== undefined;
}

/** What a provider itself ran bears its id as that of the call, and keeps it. */
function isSaidAnew({ type, call_id }: Item): boolean {
  return type === "message" || call_id !== undefined;
}

function withoutId(position: number, id: string): Mend {
  const message = `Item with id '${id}' not found.`;
  const [fault, action] = ["unresolved_reference", "id_removed"];
  return { position, id, fault, action, message, code: null, param: "input" };
}
