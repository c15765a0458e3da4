/** The maximum size of a buffered answer: a page of items, or a rejection. */
const MAX_BYTES = 64 << 20;

/** The full body, or an empty one if the body exceeds the limit. */
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

/** The answer with its buffered body. */
export function bufferedAnswer(answer: Response, body: Uint8Array): Response {
  return withOtherBody(answer, hasBody(answer) ? body : null, decodedHeaders(answer));
}

/** The answer with another body and the original `url`, `redirected` and `type`. */
export function withOtherBody(
  answer: Response,
  body: RequestInit["body"],
  headers: Headers,
): Response {
  const { status, statusText } = answer;
  return withOrigin(answer, new Response(body ?? null, { status, statusText, headers }));
}

/** Sets properties that the constructor of `Response` does not accept, also on clones. */
function withOrigin({ url, redirected, type }: Origin, response: Response): Response {
  const origin = { url, redirected, type };
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => withOrigin(origin, Response.prototype.clone.call(response)) },
  });
}

type Origin = Pick<Response, "url" | "redirected" | "type">;

/** The headers without those of an encoded body, because `fetch` has decoded it. */
export function decodedHeaders(answer: Response): Headers {
  const headers = new Headers(answer.headers);
  if (headers.has("content-encoding")) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  return headers;
}

/** Whether a response with this status may have a body. */
function hasBody({ status }: Response): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
