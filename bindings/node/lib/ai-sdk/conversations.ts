import { reconcile } from "../reconcile.js";
import { check, type Mend } from "../repair.js";
import { abridged, type Item } from "./items.js";

/**
 * Who can say what a conversation holds: `client.conversations` of the `openai` package, or
 * anything that answers alike.
 */
export interface Conversations {
  readonly items: {
    /** The items of a conversation in the order asked for, page after page. */
    list(
      conversationId: string,
      query: { order: "asc"; limit: number },
      options?: Asking,
    ): AsyncIterable<unknown> | Iterable<unknown>;
    /** Deletes an item. */
    delete(
      itemId: string,
      params: { conversation_id: string },
      options?: Asking,
    ): PromiseLike<unknown>;
  };
}

/** What a question is asked with. */
interface Asking {
  /** The caller's: who aborts a call does not wait for what is asked for it. */
  readonly signal?: AbortSignal;
}

/** What a conversation holds. */
export interface Held {
  readonly items: readonly Item[];
  /** What had to be deleted, because with it no turn is taken any more. */
  readonly mends: readonly Mend[];
}

/**
 * Asks for what a conversation holds, and deletes what no prompt can mend: reasoning that a turn
 * which broke off left at its end, and made-up outputs in whose place the prompt has the real ones.
 */
export async function askFor(
  conversations: Conversations,
  id: string,
  prompt: readonly Item[],
  signal: AbortSignal | undefined,
): Promise<Held> {
  const asking = signal ? { signal } : {};
  const items = await itemsIn(conversations, id, asking);
  const mends = [...lone(items), ...late(items, prompt)];
  for (const mend of mends) {
    if (mend.id === null) continue;
    await conversations.items.delete(mend.id, { conversation_id: id }, asking);
  }
  const gone = new Set(mends.map((mend) => mend.id));
  return { items: items.filter((item) => !gone.has(item["id"] as string)), mends };
}

/** Whether the prompt has the output of a call for which one was made up. */
export function hasLateOutput(held: readonly Item[], prompt: readonly Item[]): boolean {
  return reconcile(held, prompt).some(({ verdict }) => verdict === "late_output");
}

async function itemsIn(
  conversations: Conversations,
  id: string,
  asking: Asking,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of conversations.items.list(id, { order: "asc", limit: PAGE }, asking)) {
    asking.signal?.throwIfAborted();
    if (items.length === MOST_ITEMS) throw new Error(`${id} holds more than ${MOST_ITEMS} items`);
    items.push(abridged(asSent(item as Item)));
  }
  return items;
}

function lone(items: readonly Item[]): Mend[] {
  const found = check(items).filter(({ fault, id }) => fault === "lone_reasoning" && id !== null);
  return found.map(({ fault, id, message }) => ({ ...DELETED, fault, id, message }));
}

function late(items: readonly Item[], prompt: readonly Item[]): Mend[] {
  return reconcile(items, prompt).flatMap((verdict) => {
    const madeUp = verdict.verdict === "late_output" ? items[verdict.madeUp] : undefined;
    if (typeof madeUp?.["id"] !== "string") return [];
    const message = `The output of ${String(madeUp["call_id"])} takes the place of a made-up one.`;
    return [{ ...DELETED, fault: "duplicate_output", id: madeUp["id"], message }];
  });
}

const DELETED = { position: null, action: "deleted", code: null, param: null };

const PAGE = 100;
const MOST_ITEMS = 10_000;

/** A prompt's instructions are system messages, whatever they are called where they are sent. */
function asSent(item: Item): Item {
  return item["role"] === "developer" ? { ...item, role: "system" } : item;
}
