/**
 * Stream parts of the AI SDK, or events of an API: a `ReadableStream` or an async iterable of them,
 * or an object that has one, such as the result of `streamText` or of a model's `doStream`.
 */
export type StreamSource =
  | ReadableStream<unknown>
  | AsyncIterable<unknown>
  | { readonly stream: ReadableStream<unknown> | AsyncIterable<unknown> }
  | { readonly fullStream: ReadableStream<unknown> | AsyncIterable<unknown> };

/** A reader of stream parts. */
export interface Parts {
  next(): Promise<{ done?: boolean; value?: unknown }>;
  /** Cancels the source, and ignores errors. */
  leave(reason?: unknown): void;
}

/** The reader of a source. Throws a `TypeError` for other values and for locked streams. */
export function partsOf(source: StreamSource): Parts {
  if (typeof source === "object" && source !== null) {
    if (isReadable(source)) return partsOfReader(source.getReader());
    if (Symbol.asyncIterator in source) return partsOfIterator(source[Symbol.asyncIterator]());
    if ("stream" in source && source.stream) return partsOf(source.stream);
    if ("fullStream" in source && source.fullStream) return partsOf(source.fullStream);
  }
  throw new TypeError(
    "source: must be a ReadableStream or an async iterable of stream parts, or an object that " +
      "has one as `stream` or `fullStream`.",
  );
}

function isReadable(source: object): source is ReadableStream<unknown> {
  return typeof (source as { getReader?: unknown }).getReader === "function";
}

function partsOfReader(reader: ReadableStreamDefaultReader<unknown>): Parts {
  return {
    next: () => reader.read(),
    leave: (reason) => void reader.cancel(reason).catch(() => {}),
  };
}

function partsOfIterator(iterator: AsyncIterator<unknown>): Parts {
  return {
    next: async () => iterator.next(),
    leave: () => void (async () => iterator.return?.())().catch(() => {}),
  };
}
