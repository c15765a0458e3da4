/** The bound on an answer that is read whole: a page of items, or a refusal. */
const MAX_BYTES = 64 << 20;

/** The whole body; of one over the bound, nothing. */
export async function readAtMost(answer: Response, limit = MAX_BYTES): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.byteLength;
    if (length > limit) return new Uint8Array();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** An answer whose body was read, as it came. */
export function keptAnswer(answer: Response, body: Uint8Array): Response {
  return madeOf(answer, hasBody(answer) ? body : null, decodedHeaders(answer));
}

/** An answer with another body, that says where it came from. */
export function madeOf(answer: Response, body: RequestInit["body"], headers: Headers): Response {
  const { status, statusText } = answer;
  return from(answer, new Response(body ?? null, { status, statusText, headers }));
}

/** A response, and its clones, with what their constructor is not told. */
function from({ url, redirected, type }: Origin, made: Response): Response {
  const origin = { url, redirected, type };
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => from(origin, Response.prototype.clone.call(made)) },
  });
}

type Origin = Pick<Response, "url" | "redirected" | "type">;

/** The headers without what only holds of a body that is still encoded: `fetch` has decoded it. */
export function decodedHeaders(answer: Response): Headers {
  const headers = new Headers(answer.headers);
  if (headers.has("content-encoding")) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  return headers;
}

/** A response of these statuses may not be made with a body. */
function hasBody({ status }: Response): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
