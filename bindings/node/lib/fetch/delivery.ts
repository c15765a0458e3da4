type Fetch = typeof globalThis.fetch;

/**
 * For each stateful fetch, a second one that shares its knowledge. It posts to a conversation only
 * the items that answer an open call, and sends no request if there are none.
 */
const deliveringFetches = new WeakMap<Fetch, Fetch>();

/** Registers the delivering fetch of a stateful fetch. */
export function addDeliveringFetch(stateful: Fetch, delivering: Fetch): void {
  deliveringFetches.set(stateful, delivering);
}

/** The delivering fetch of a stateful fetch; undefined for other functions. */
export function deliveringFetchOf(fetch: Fetch): Fetch | undefined {
  return deliveringFetches.get(fetch);
}

/** The JSON array `items` in the body of a request. Throws a `TypeError` if there is none. */
export function itemsOf(body: string | Uint8Array | undefined): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const items = (JSON.parse(text) as { items?: unknown } | null)?.items;
  if (!Array.isArray(items)) throw new TypeError("A delivery needs an array of items.");
  return JSON.stringify(items);
}

/** The answer to a delivery if the conversation needs none of its items. */
export function nothingPosted(): Response {
  const list = { object: "list", data: [], first_id: null, last_id: null, has_more: false };
  return Response.json(list);
}
