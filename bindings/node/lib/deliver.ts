import { refused } from "./arguments.js";
import { deliveringFetchOf } from "./fetch/delivery.js";
import { statefulFetch } from "./fetch/stateful-fetch.js";
import type { Item } from "./item.js";

type Fetch = typeof globalThis.fetch;

/** The parts of an `OpenAI` client that a delivery uses. */
export interface DeliveringClient {
  withOptions(options: { fetch: Fetch }): DeliveringClient;
  readonly conversations: {
    readonly items: {
      create(
        conversation: string,
        body: { items: never[] },
        options?: { signal?: AbortSignal },
      ): PromiseLike<{ data: unknown[] }>;
    };
  };
}

/** The number of items that the Conversations API accepts in one request. */
export const AT_ONCE = 20;

/** The stateful fetches of clients that have none of their own. */
const fetches = new WeakMap<object, Fetch>();

/**
 * Posts tool outputs to a conversation without a model turn: the items that answer an open call of
 * the conversation, and no others. Returns the number of posted items.
 *
 * `client` is an `OpenAI` client, with or without `statefulFetch`. Rejects with the client's errors.
 */
export async function deliver(
  client: DeliveringClient,
  conversation: string,
  items: readonly Item[],
): Promise<number> {
  if (!Array.isArray(items)) throw refused("items", "must be an array of items", items);
  const delivering = deliveringClient(client);
  let posted = 0;
  for (const some of inPosts(items)) {
    const body = { items: some as never[] };
    posted += (await delivering.conversations.items.create(conversation, body)).data.length;
  }
  return posted;
}

/** A client that posts only the items that a conversation waits for. */
export function deliveringClient<C extends DeliveringClient>(client: C): C {
  const given = (client as { fetch?: Fetch }).fetch ?? globalThis.fetch;
  const fetch = deliveringFetchOf(given) ?? deliveringFetchOf(statefulFetchFor(client, given));
  if (fetch === undefined) throw new Error("A stateful fetch has a delivering fetch.");
  return client.withOptions({ fetch }) as C;
}

/** Splits items into lists that the Conversations API accepts. */
export function inPosts<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / AT_ONCE);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
  );
}

function statefulFetchFor(client: object, fetch: Fetch): Fetch {
  const known = fetches.get(client) ?? statefulFetch({ fetch });
  fetches.set(client, known);
  return known;
}
