import { reconcile } from "../reconcile.js";
import { check, type Mend } from "../repair.js";
import { abridged, type Item } from "./items.js";

/**
 * Lists and deletes the items of conversations: `client.conversations` of the `openai` package, or
 * an object with the same methods.
 */
export interface Conversations {
  readonly items: {
    /** Lists the items of a conversation in the requested order, across pages. */
    list(
      conversationId: string,
      query: { order: "asc"; limit: number },
      options?: RequestOptions,
    ): AsyncIterable<unknown> | Iterable<unknown>;
    /** Deletes an item. */
    delete(
      itemId: string,
      params: { conversation_id: string },
      options?: RequestOptions,
    ): PromiseLike<unknown>;
  };
}

/** Options of a list or delete request. */
interface RequestOptions {
  /** The caller's signal, so that an aborted call does not wait for these requests. */
  readonly signal?: AbortSignal;
}

/** The items of a conversation. */
export interface Held {
  readonly items: readonly Item[];
  /** The deletions of items that would block every later turn. */
  readonly mends: readonly Mend[];
}

/**
 * Lists the items of a conversation, and deletes those that no prompt can repair: reasoning at
 * which a turn broke off, and placeholder outputs if the prompt has the real ones.
 */
export async function fetchHeld(
  conversations: Conversations,
  id: string,
  prompt: readonly Item[],
  signal: AbortSignal | undefined,
): Promise<Held> {
  const options = signal ? { signal } : {};
  const items = await itemsIn(conversations, id, options);
  const mends = [...loneReasoning(items), ...replacedPlaceholders(items, prompt)];
  for (const mend of mends) {
    if (mend.id === null) continue;
    await conversations.items.delete(mend.id, { conversation_id: id }, options);
  }
  const deleted = new Set(mends.map((mend) => mend.id));
  return { items: items.filter((item) => !deleted.has(item["id"] as string)), mends };
}

/** Whether the prompt has the real output of a call that holds a placeholder. */
export function hasLateOutput(held: readonly Item[], prompt: readonly Item[]): boolean {
  return reconcile(held, prompt).some(({ verdict }) => verdict === "late_output");
}

async function itemsIn(
  conversations: Conversations,
  id: string,
  options: RequestOptions,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of conversations.items.list(id, { order: "asc", limit: PAGE }, options)) {
    options.signal?.throwIfAborted();
    if (items.length === MAX_ITEMS) {
      throw new Error(`conversation ${id} holds more than ${MAX_ITEMS} items`);
    }
    items.push(abridged(withSystemRole(item as Item)));
  }
  return items;
}

function loneReasoning(items: readonly Item[]): Mend[] {
  const found = check(items).filter(({ fault, id }) => fault === "lone_reasoning" && id !== null);
  return found.map(({ fault, id, message }) => ({ ...DELETED, fault, id, message }));
}

function replacedPlaceholders(items: readonly Item[], prompt: readonly Item[]): Mend[] {
  return reconcile(items, prompt).flatMap((verdict) => {
    const placeholder = verdict.verdict === "late_output" ? items[verdict.madeUp] : undefined;
    if (typeof placeholder?.["id"] !== "string") return [];
    const callId = String(placeholder["call_id"]);
    const message = `The real output of ${callId} replaces its placeholder.`;
    return [{ ...DELETED, fault: "duplicate_output", id: placeholder["id"], message }];
  });
}

const DELETED = { position: null, action: "deleted", code: null, param: null };

const PAGE = 100;
const MAX_ITEMS = 10_000;

/** Instructions in a prompt have the role `system`, but the server may store `developer`. */
function withSystemRole(item: Item): Item {
  return item["role"] === "developer" ? { ...item, role: "system" } : item;
}
