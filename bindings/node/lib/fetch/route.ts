/** The target of a request that changes the server's state. */
export type Route =
  /** `POST …/responses` */
  | { kind: "responses"; base: URL }
  /** A write to a conversation, or to its items. */
  | { kind: "conversation"; base: URL; conversation: string };

const RESPONSES = /^(.*)\/responses\/?$/;
const CONVERSATION = /^(.*)\/conversations\/([^/]+)(?:\/.*)?$/;

/** The target of a request. Undefined if the request does not change the tracked state. */
export function routeOf(input: string | URL | Request, init?: RequestInit): Route | undefined {
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

/** The URL of a path below the base, with its own query and that of the base. */
export function addressOf(base: URL, path: string): URL {
  const address = new URL(base.origin + base.pathname.replace(/\/$/, "") + path);
  for (const [key, value] of base.searchParams) {
    if (!address.searchParams.has(key)) address.searchParams.append(key, value);
  }
  return address;
}

/** The base URL with the query, because every path may need an `api-version`. */
function baseOf(url: URL, path = ""): URL {
  const base = new URL(url);
  base.pathname = path;
  base.hash = "";
  return base;
}

/** Undefined for an invalid URL, which `fetch` itself rejects. */
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
