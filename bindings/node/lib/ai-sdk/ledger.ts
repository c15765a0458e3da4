import type { Item } from "./items.js";
import { Recent } from "./recent.js";
import type { ServerState } from "./server-state.js";

/** What is known of one conversation, or of the chain up to one response. */
export interface Known {
  /** What the server holds, oldest first. */
  readonly items: readonly Item[];
  /** Whether that is all: asked for, or followed from the first turn. Else the prompt proved it. */
  readonly isAll: boolean;
  /** Ids that were looked for and are not held: of another conversation's items. */
  readonly elsewhere: ReadonlySet<string>;
}

/** What a turn gave up its state's entry for; it alone may put one there again. */
export type Lease = symbol;

/**
 * What servers' conversations and chains are known to hold.
 *
 * ```text
 * unknown ---> known ---> leased ---> known       the turn is over, and the server has it
 *                           '-------> unknown     it broke off, or another began meanwhile
 * ```
 *
 * A conversation in which a turn is under way is in doubt until that turn says what came of it: one
 * that never says anything leaves nothing wrong behind. Responses never change, so what is known of
 * a chain stays. Bounded: the items and ids that were used last.
 */
export class Ledger {
  readonly #entries = new Recent<Known | Lease>(ITEMS, weightOf);
  /** Ids of items that whole answers brought. */
  readonly #heard = new Recent<true>(IDS);
  /** Ids of items of answers that broke off: nobody knows whether they are stored. */
  readonly #doubtful = new Recent<true>(IDS);

  known({ id }: ServerState): Known | undefined {
    const entry = this.#entries.get(id);
    return typeof entry === "object" ? entry : undefined;
  }

  learn({ id }: ServerState, known: Known): void {
    this.#entries.set(id, known);
  }

  /** A turn begins in this state. */
  lease({ by, id }: ServerState): Lease {
    const lease = Symbol(id);
    if (by === "conversation") this.#entries.set(id, lease);
    return lease;
  }

  /** The turn is over, and the state is what is known now; nothing is where that cannot be told. */
  settle({ by, id }: ServerState, lease: Lease, known: Known | undefined): void {
    if (by !== "conversation") return;
    const isItsOwn = this.#entries.get(id) === lease;
    if (isItsOwn && known !== undefined) this.#entries.set(id, known);
    else this.#entries.delete(id);
  }

  /** A response ended: what its chain holds. */
  chain(response: string, known: Known): void {
    this.#entries.set(response, known);
  }

  heard(items: readonly Item[]): void {
    for (const id of idsOf(items)) this.#heard.set(id, true);
  }

  leftOff(ids: Iterable<string>): void {
    for (const id of ids) this.#doubtful.set(id, true);
  }

  /** Whether nobody knows if the item is stored under its id. */
  isDoubtful({ id }: Item): boolean {
    return typeof id === "string" && this.#doubtful.has(id) && !this.#heard.has(id);
  }

  /**
   * How many of a prompt's first items a server proves to hold that is known to hold `known`: all
   * up to the last that bears an id which a server gave. What chains hold is not proven by answers
   * that were heard here: their own chains hold them, of which this one may be a branch.
   */
  proven(items: readonly Item[], { by }: ServerState, known: Known | undefined): number {
    const held = new Set(idsOf(known?.items ?? []));
    const proves = ({ id }: Item) =>
      typeof id === "string" &&
      !held.has(id) &&
      !known?.elsewhere.has(id) &&
      !this.#doubtful.has(id) &&
      !(by === "previousResponseId" && this.#heard.has(id));
    return items.findLastIndex(proves) + 1;
  }
}

/** The ids of items. */
export function idsOf(items: readonly Item[]): string[] {
  return items.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}

/** A state weighs something even where nothing is held. */
function weightOf(entry: Known | Lease): number {
  return typeof entry === "object" ? entry.items.length + 1 : 1;
}

const ITEMS = 100_000;
const IDS = 20_000;
