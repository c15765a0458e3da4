import type { Part } from "./shapes.js";

/** Converts the parts of a user message or an output to the content of an item. */
export function contentOf(parts: readonly Part[]): object[] {
  return parts.map((part) => {
    if (part.text !== undefined) return { type: "input_text", text: part.text };
    return fileOf(part);
  });
}

function fileOf({ data, mediaType = "", filename }: Part): object {
  const isImage = mediaType === "image" || mediaType.startsWith("image/");
  const { url, bytes, reference } = sourceOf(data);
  if (reference !== undefined) {
    return { type: isImage ? "input_image" : "input_file", file_id: reference };
  }
  const inline = bytes === undefined ? undefined : `data:${mediaType};base64,${bytes}`;
  if (isImage) return { type: "input_image", image_url: url ?? inline ?? "" };
  if (url !== undefined) return { type: "input_file", file_url: url };
  return { type: "input_file", filename: filename ?? "data", file_data: inline ?? "" };
}

interface Source {
  url?: string;
  bytes?: string;
  reference?: string;
}

/** File data of version 7. */
interface TypedData {
  type?: string;
  url?: unknown;
  data?: unknown;
  reference?: object;
}

/** The source of a file. Version 7 has a type field; version 6 uses the type of the value. */
function sourceOf(data: unknown): Source {
  if (data instanceof URL) return { url: data.toString() };
  if (data instanceof Uint8Array) return { bytes: Buffer.from(data).toString("base64") };
  if (typeof data === "string") return /^https?:/.test(data) ? { url: data } : { bytes: data };
  const typed = (data ?? {}) as TypedData;
  if (typed.type === "reference") return { reference: Object.values(typed.reference ?? {}).join() };
  if (typed.type === "url") return { url: String(typed.url) };
  return typed.type === "data" ? sourceOf(typed.data) : {};
}
