import { nameOf } from "../arguments.js";

/**
 * One part of a stream as a line of JSON. Parts hold what JSON has no form for: errors keep what they
 * say and their code, bytes become base64, files their type and base64, big integers their digits; what
 * contains itself is cut off where it would begin anew.
 */
export function lineOf(part: unknown): string {
  if (typeof part !== "object" || part === null) {
    return lineOf({ type: "error", error: `A part of the stream is no object, but ${nameOf(part)}.` });
  }
  try {
    return `${JSON.stringify(part, replacer())}\n`;
  } catch (error) {
    return lineOf({ type: "error", error: `A part of the stream cannot be read: ${String(error)}` });
  }
}

/** Of one `JSON.stringify`: it remembers what the value at hand stands in. */
function replacer(): (this: object, key: string, written: unknown) => unknown {
  const holders: object[] = [];
  return function replaced(this: object, key: string, written: unknown): unknown {
    while (holders.length > 0 && holders.at(-1) !== this) holders.pop();
    const value = plainOf((this as Record<string, unknown>)[key], written);
    if (typeof value !== "object" || value === null) return value;
    if (holders.includes(value)) return "[circular]";
    holders.push(value);
    return value;
  };
}

/** `written` is what the value's own `toJSON` makes of it. */
function plainOf(value: unknown, written: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return written;
  if (value instanceof Error) return errorOf(value);
  if (ArrayBuffer.isView(value)) return base64(value);
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  return isFile(value) ? { mediaType: value.mediaType, base64: value.base64 } : written;
}

/** What a client may be told of an error: never the request that it may hold. */
function errorOf(error: Error): object {
  const { name, message, code, data, cause } = error as Error & ApiError;
  const inner = data?.error ?? (cause instanceof Error ? errorOf(cause) : undefined);
  return { name, message, ...(typeof code === "string" && { code }), ...(inner && { error: inner }) };
}

/** Where the errors of providers have what their servers said. */
interface ApiError {
  code?: unknown;
  data?: { error?: object };
}

/** A file that a model made: its content stands behind accessors. */
interface File {
  mediaType: string;
  base64: string;
}

function isFile(value: object): value is File {
  return "base64" in value && "uint8Array" in value && "mediaType" in value;
}

function base64({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
