/**
 * What is asked of the package's own functions. They decide everything about items; what stands here
 * only carries messages there and back.
 */
import * as core from "../index.js";

import type { Item } from "./items.js";

/** Something that was mended. */
export interface Mend {
  /** The fault's name. */
  readonly fault: string;
  /** What was done about it. */
  readonly action?: string | null | undefined;
  /** The words in which a provider would have refused it. */
  readonly message: string;
  /** The id of the item, where it has one. */
  readonly id?: string | null | undefined;
  /** Where in the list the item stands; of what a server holds, nowhere. */
  readonly position?: number | null | undefined;
}

interface Repaired {
  readonly items: readonly Item[];
  readonly mends: readonly Mend[];
}

interface Engine {
  check(items: readonly Item[]): readonly { readonly id: string | null; readonly fault: string; readonly message: string }[];
  repair(items: readonly Item[], held?: readonly Item[], policy?: string): Repaired;
  reconcile(held: readonly Item[], items: readonly Item[]): readonly { readonly verdict: string }[];
}

export const engine: Engine = core as unknown as Engine;
