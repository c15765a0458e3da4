import { lineOf } from "./part.js";

/** Writes a source's parts, and its end if it breaks off, as the input of a conversion. */
export interface InputWriter {
  part(part: unknown): string;
  /** The source threw this error. */
  error(error: unknown): string;
  /** The signal aborted for this reason. */
  abort(reason: unknown): string;
}

/** Writes stream parts of the AI SDK, one JSON object per line. */
export class PartWriter implements InputWriter {
  part(part: unknown): string {
    return lineOf(part);
  }

  error(error: unknown): string {
    return isAbort(error) ? this.abort(error) : lineOf({ type: "error", error });
  }

  abort(reason: unknown): string {
    return lineOf({ type: "abort", reason: messageOf(reason) });
  }
}

/** Writes events of an API: objects as lines of JSON, bytes and text as they are. */
export class EventWriter implements InputWriter {
  readonly #decoder = new TextDecoder();
  #isEventStream = false;

  part(part: unknown): string {
    const isText = typeof part === "string";
    if (!isText && !(part instanceof Uint8Array)) return lineOf(part);
    this.#isEventStream = true;
    return isText ? part : this.#decoder.decode(part, { stream: true });
  }

  error(error: unknown): string {
    return isAbort(error) ? this.abort(error) : this.#failure({ type: "error", error });
  }

  abort(reason: unknown): string {
    return this.#failure({ type: "error", error: { code: "aborted", message: messageOf(reason) } });
  }

  /** An error event. The blank line ends an event that was cut off. */
  #failure(event: object): string {
    return this.#isEventStream ? `\n\ndata: ${lineOf(event)}\n` : lineOf(event);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function messageOf(reason: unknown): string {
  if (reason instanceof Error) return reason.message;
  return typeof reason === "string" ? reason : "";
}
