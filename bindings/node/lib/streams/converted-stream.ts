import { AntiphonError } from "../native.js";
import type { NativeConversion } from "../native.js";
import { ConvertedEvents } from "./converted-events.js";
import type { InputWriter } from "./input-writer.js";
import type { Parts } from "./source.js";

/**
 * A stream in another dialect. It can be read once: as events, as the bytes of an event stream, or
 * as the final response. The source is read only when this stream is read.
 *
 * The stream is well-formed and has one terminal event for every source. If its reader stops, the
 * source is cancelled. The result of `streamText` is an exception: it keeps a copy of its stream,
 * so only its own `abortSignal` stops the model.
 */
export class ConvertedStream<E, R> implements AsyncIterable<E> {
  readonly #conversion: NativeConversion;
  readonly #texts: ConvertedEvents;
  #isRead = false;
  #settle: { resolve: (response: R) => void; reject: (error: Error) => void } | undefined;
  readonly #final: Promise<R>;

  /** @internal */
  constructor(
    conversion: NativeConversion,
    parts: Parts,
    writer: InputWriter,
    signal: AbortSignal | undefined,
  ) {
    this.#conversion = conversion;
    this.#texts = new ConvertedEvents(parts, writer, conversion, signal);
    this.#final = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#final.catch(() => {});
  }

  /** The events. */
  [Symbol.asyncIterator](): AsyncIterator<E, void> {
    this.#readOnce();
    return {
      next: async () => {
        const { done, value } = await this.#next();
        return done ? { done, value: undefined } : { done: false, value: JSON.parse(value) as E };
      },
      return: async () => {
        await this.#leave(undefined);
        return { done: true, value: undefined };
      },
    };
  }

  /** The bytes of an event stream, including the dialect's end marker. */
  toReadableStream(): ReadableStream<Uint8Array> {
    this.#readOnce();
    this.#conversion.writeEventStream();
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await this.#next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        },
        cancel: (reason) => this.#leave(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** An answer to a request for an event stream. */
  toResponse(init: ResponseInit = {}): Response {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "text/event-stream; charset=utf-8");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-cache");
    return new Response(this.toReadableStream(), { ...init, headers });
  }

  /**
   * The full answer, after the end of the stream. Reads the stream if nobody else does. Rejects
   * with an `AntiphonError` with the answer's `code` if the answer failed or was not read to its
   * end.
   */
  async finalResponse(): Promise<R> {
    if (!this.#isRead) for await (const _ of this);
    return this.#final;
  }

  /** A sentence for each correction and omission, available after the end of the stream. */
  get notes(): readonly string[] {
    return this.#texts.converted?.notes ?? [];
  }

  async #next(): Promise<IteratorResult<string, void>> {
    const next = await this.#texts.next();
    if (next.done) this.#end();
    return next;
  }

  async #leave(reason: unknown): Promise<void> {
    await this.#texts.return(reason);
    this.#end();
  }

  #end(): void {
    const converted = this.#texts.converted;
    if (!converted) return this.#fail("left", "The stream was not read to its end.");
    const answer = JSON.parse(converted.folded) as R & Failed;
    if (answer.error) {
      const { code, type, message } = answer.error;
      return this.#fail(code ?? type ?? "server_error", message);
    }
    this.#settle?.resolve(answer);
  }

  #fail(code: string, message: string): void {
    this.#settle?.reject(new AntiphonError(code, message));
  }

  #readOnce(): void {
    if (this.#isRead) throw new TypeError("The stream can be read only once.");
    this.#isRead = true;
  }
}

/** The error of a failed answer, in both dialects. */
interface Failed {
  error?: { code?: string; type?: string; message: string } | null;
}
