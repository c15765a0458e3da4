/** A call of `fetch`, read. */
export interface Call {
  input: string | URL | Request;
  init: RequestInit | undefined;
  /** A copy. */
  headers: Headers;
  /** The body's text or bytes; nothing for bodies of other forms, which pass as they are. */
  body: string | Uint8Array | undefined;
}

/** Reads a call. A `Request` stays readable. */
export async function readCall(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Call> {
  const headers = headersOf(input, init);
  const body = headers.has("content-encoding") ? undefined : await bodyOf(input, init);
  return { input, init, headers, body };
}

/** The headers of a call, in a copy. */
export function headersOf(input: string | URL | Request, init: RequestInit | undefined): Headers {
  return new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
}

async function bodyOf(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Call["body"]> {
  const given = init?.body;
  if (given == null) {
    const isReadable = input instanceof Request && input.body !== null && !input.bodyUsed;
    return isReadable ? new Uint8Array(await input.clone().arrayBuffer()) : undefined;
  }
  if (typeof given === "string") return given;
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  return ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : undefined;
}

/** The call with another body; all else as the caller has it. */
export function withBody({ input, init, headers }: Call, body: Uint8Array): [typeof input, RequestInit] {
  const changed = new Headers(headers);
  changed.delete("content-length");
  return [input, { ...init, headers: changed, body }];
}

/** What a question is sent with: the caller's credentials, signal and dispatcher. */
export function questionOf(call: Call, method: string, body: Uint8Array | undefined): RequestInit {
  const headers = new Headers(call.headers);
  for (const name of ["content-length", "idempotency-key", ...(body ? [] : ["content-type"])]) {
    headers.delete(name);
  }
  headers.set("accept", "application/json");
  const { body: _, ...init } = call.init ?? {};
  const signal = call.input instanceof Request ? { signal: call.input.signal } : {};
  return { ...signal, ...init, method, headers, ...(body && { body }) };
}
