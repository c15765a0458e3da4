/** The arguments of a `fetch` call, with the body read. */
export interface Call {
  input: string | URL | Request;
  /** The given options. A stream body is replaced with its bytes. */
  init: RequestInit | undefined;
  /** A copy. */
  headers: Headers;
  /** The body's text or bytes. Undefined for forms and encoded bodies, which pass unchanged. */
  body: string | Uint8Array | undefined;
}

/** Reads a call. A `Request` stays readable afterwards. */
export async function readCall(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Call> {
  const headers = headersOf(input, init);
  const body = headers.has("content-encoding") ? undefined : await bodyOf(input, init);
  const isSpent = body !== undefined && isStream(init?.body);
  return { input, init: isSpent ? { ...init, body } : init, headers, body };
}

/** The abort signal of a call. */
export function signalOf({ input, init }: Call): AbortSignal | undefined {
  const given = init?.signal;
  if (given !== undefined) return given ?? undefined;
  return input instanceof Request ? input.signal : undefined;
}

/** A copy of the headers of a call. */
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
  if (given instanceof Blob || isStream(given)) {
    return new Uint8Array(await new Response(given).arrayBuffer());
  }
  return ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : undefined;
}

/** Whether a body is a stream, which can be read only once. */
function isStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** The call with another body. */
export function withBody({ input, init, headers }: Call, body: Uint8Array): [typeof input, RequestInit] {
  const changed = new Headers(headers);
  changed.delete("content-length");
  if (!changed.has("content-type")) changed.set("content-type", "application/json");
  return [input, { ...init, headers: changed, body }];
}

/** The options of a list or delete request: the caller's credentials, signal and dispatcher. */
export function optionsOfRequest(call: Call, method: string): RequestInit {
  const headers = new Headers(call.headers);
  for (const name of ["content-length", "content-type", "idempotency-key"]) headers.delete(name);
  headers.set("accept", "application/json");
  const { body: _, ...init } = call.init ?? {};
  const signal = call.input instanceof Request ? { signal: call.input.signal } : {};
  return { ...signal, ...init, method, headers };
}
