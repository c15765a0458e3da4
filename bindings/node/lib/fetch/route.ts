/** What a request is for, as far as it changes what a server holds. */
export type Place =
  /** `POST …/responses` */
  | { kind: "responses"; base: URL }
  /** A write to a conversation, or to its items. */
  | { kind: "conversation"; base: URL; conversation: string };

const RESPONSES = /^(.*)\/responses\/?$/;
const CONVERSATION = /^(.*)\/conversations\/([^/]+)(?:\/.*)?$/;

/** What this request is for; nothing where it changes nothing that is known. */
export function placeOf(input: string | URL | Request, init?: RequestInit): Place | undefined {
  const isRequest = input instanceof Request;
  const method = (init?.method ?? (isRequest ? input.method : "GET")).toUpperCase();
  if (method !== "POST" && method !== "DELETE") return undefined;
  const url = parsed(isRequest ? input.url : input);
  if (url === undefined) return undefined;
  const responses = method === "POST" ? RESPONSES.exec(url.pathname) : null;
  if (responses) return { kind: "responses", base: baseOf(url, responses[1]) };
  const [, path, id] = CONVERSATION.exec(url.pathname) ?? [];
  const conversation = id && decoded(id);
  return conversation ? { kind: "conversation", base: baseOf(url, path), conversation } : undefined;
}

/** The address of a question below the base: its own query, and what the request's says besides. */
export function addressOf(base: URL, path: string): URL {
  const address = new URL(base.origin + base.pathname.replace(/\/$/, "") + path);
  for (const [key, value] of base.searchParams) {
    if (!address.searchParams.has(key)) address.searchParams.append(key, value);
  }
  return address;
}

/** What stands before the path of the API, with the query: an `api-version` is asked of every path. */
function baseOf(url: URL, path = ""): URL {
  const base = new URL(url);
  base.pathname = path;
  base.hash = "";
  return base;
}

/** `fetch` itself refuses what is no address. */
function parsed(address: string | URL): URL | undefined {
  return URL.canParse(String(address)) ? new URL(address) : undefined;
}

function decoded(id: string): string | undefined {
  try {
    return decodeURIComponent(id);
  } catch {
    return undefined;
  }
}
