import type { Item } from "./items.js";
import { Recent } from "./recent.js";
import type { ServerState } from "./server-state.js";

/** The known state of a conversation, or of the chain up to a response. */
export interface Known {
  /** The items that the server holds, oldest first. */
  readonly items: readonly Item[];
  /**
   * Whether the list is complete: fetched, or tracked from the first turn. Else derived from a
   * prompt.
   */
  readonly isAll: boolean;
  /** Ids that the server does not hold here: they belong to another conversation. */
  readonly elsewhere: ReadonlySet<string>;
}

/** Marks the entry of a state during a turn. Only that turn may replace it. */
export type Lease = symbol;

/**
 * The known items of conversations and chains.
 *
 * ```text
 * unknown ---> known ---> leased ---> known       the turn ended, and the server stored it
 *                           '-------> unknown     it broke off, or another turn began meanwhile
 * ```
 *
 * A conversation is unknown during a turn, so a turn that never reports its end does no harm.
 * Responses never change, so the known items of a chain stay valid. The ledger is bounded, and drops
 * the entries that were set least recently.
 */
export class Ledger {
  readonly #entries = new Recent<Known | Lease>(ITEMS, weightOf);
  /** The ids of items of complete answers. */
  readonly #confirmed = new Recent<true>(IDS);
  /** The ids of items of interrupted answers, which may not be stored. */
  readonly #uncertain = new Recent<true>(IDS);

  known({ id }: ServerState): Known | undefined {
    const entry = this.#entries.get(id);
    return typeof entry === "object" ? entry : undefined;
  }

  learn({ id }: ServerState, known: Known): void {
    this.#entries.set(id, known);
  }

  /** Records the start of a turn in this state. */
  lease({ by, id }: ServerState): Lease {
    const lease = Symbol(id);
    if (by === "conversation") this.#entries.set(id, lease);
    return lease;
  }

  /** Records the end of a turn with the new state; `undefined` if the state is unknown. */
  settle({ by, id }: ServerState, lease: Lease, known: Known | undefined): void {
    if (by !== "conversation") return;
    const isItsOwn = this.#entries.get(id) === lease;
    if (isItsOwn && known !== undefined) this.#entries.set(id, known);
    else this.#entries.delete(id);
  }

  /** Records the items of the chain up to a response. */
  chain(response: string, known: Known): void {
    this.#entries.set(response, known);
  }

  confirm(items: readonly Item[]): void {
    for (const id of idsOf(items)) this.#confirmed.set(id, true);
  }

  markUncertain(ids: Iterable<string>): void {
    for (const id of ids) this.#uncertain.set(id, true);
  }

  /** Whether the item may not be stored under its id. */
  isUncertain({ id }: Item): boolean {
    return typeof id === "string" && this.#uncertain.has(id) && !this.#confirmed.has(id);
  }

  /**
   * The number of a prompt's first items that the server must hold: all up to the last item with an
   * id that a server assigned and that is not in `known`. For a chain, ids of answers that were
   * read here prove nothing, because this chain may be a branch without them.
   */
  proven(items: readonly Item[], { by }: ServerState, known: Known | undefined): number {
    const held = new Set(idsOf(known?.items ?? []));
    const proves = ({ id }: Item) =>
      typeof id === "string" &&
      !held.has(id) &&
      !known?.elsewhere.has(id) &&
      !this.#uncertain.has(id) &&
      !(by === "previousResponseId" && this.#confirmed.has(id));
    return items.findLastIndex(proves) + 1;
  }
}

/** The ids of items. */
export function idsOf(items: readonly Item[]): string[] {
  return items.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}

/** The weight of an entry. An empty state counts too. */
function weightOf(entry: Known | Lease): number {
  return typeof entry === "object" ? entry.items.length + 1 : 1;
}

const ITEMS = 100_000;
const IDS = 20_000;
