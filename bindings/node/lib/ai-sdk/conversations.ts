import { engine, type Mend } from "./engine.js";
import { abridged, type Item } from "./items.js";

/**
 * Who can say what a conversation holds: `client.conversations` of the `openai` package, or anything
 * that answers alike.
 */
export interface Conversations {
  readonly items: {
    /** The items of a conversation in the order asked for, page after page. */
    list(
      conversationId: string,
      query: { order: "asc"; limit: number },
    ): AsyncIterable<unknown> | Iterable<unknown>;
    /** Deletes an item. */
    delete(itemId: string, params: { conversation_id: string }): PromiseLike<unknown>;
  };
}

/** What a conversation holds. */
export interface Held {
  readonly items: readonly Item[];
  /** What had to be deleted, because with it no turn is taken any more. */
  readonly mends: readonly Mend[];
}

/**
 * Asks for what a conversation holds. Reasoning that a turn which broke off left at its end is deleted:
 * nothing that is sent can mend it.
 */
export async function askFor(conversations: Conversations, id: string): Promise<Held> {
  const items: Item[] = [];
  for await (const item of conversations.items.list(id, { order: "asc", limit: PAGE })) {
    if (items.length === MOST_ITEMS) throw new Error(`${id} holds more than ${MOST_ITEMS} items`);
    items.push(abridged(asSent(item as Item)));
  }
  const mends: Mend[] = [];
  for (const { id: lone, fault, message } of engine.check(items)) {
    if (fault !== "lone_reasoning" || lone === null) continue;
    await conversations.items.delete(lone, { conversation_id: id });
    mends.push({ id: lone, fault, action: "deleted", message, position: null });
  }
  const gone = new Set(mends.map((mend) => mend.id));
  return { items: items.filter((item) => !gone.has(item["id"] as string)), mends };
}

const PAGE = 100;
const MOST_ITEMS = 10_000;

/** A prompt's instructions are system messages, whatever they are called where they are sent. */
function asSent(item: Item): Item {
  return item["role"] === "developer" ? { ...item, role: "system" } : item;
}
