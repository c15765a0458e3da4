import { nameOf } from "../arguments.js";

/**
 * Writes one part of a stream as a line of JSON. Converts values that JSON cannot express: errors
 * to their message and code, bytes to base64, files to type and base64, big integers to digits.
 * Recursive values are cut off.
 */
export function lineOf(part: unknown): string {
  if (typeof part !== "object" || part === null) {
    const error = `A part of the stream must be an object, not ${nameOf(part)}.`;
    return lineOf({ type: "error", error });
  }
  try {
    return `${JSON.stringify(part, replacer())}\n`;
  } catch (error) {
    return lineOf({ type: "error", error: `A part of the stream cannot be read: ${String(error)}` });
  }
}

/** A replacer for one `JSON.stringify` call. It tracks the objects around the current value. */
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

/** `written` is the result of the value's own `toJSON`. */
function plainOf(value: unknown, written: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return written;
  if (value instanceof Error) return errorOf(value);
  if (ArrayBuffer.isView(value)) return base64(value);
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  return isFile(value) ? { mediaType: value.mediaType, base64: value.base64 } : written;
}

/** The public fields of an error, without the request that it may contain. */
function errorOf(error: Error): object {
  const { name, message, code, data, cause } = error as Error & ApiError;
  const inner = data?.error ?? (cause instanceof Error ? errorOf(cause) : undefined);
  return { name, message, ...(typeof code === "string" && { code }), ...(inner && { error: inner }) };
}

/** The fields of provider errors that contain the server's error. */
interface ApiError {
  code?: unknown;
  data?: { error?: object };
}

/** A generated file. Its content is available through accessors. */
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
