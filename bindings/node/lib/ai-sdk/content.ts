import type { Part } from "./shapes.js";

/** The parts of what a user says, or of an output, as they stand in an item. */
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

/** Version 7 says of which sort the data is, version 6 shows it. */
function sourceOf(data: unknown): Source {
  if (data instanceof URL) return { url: data.toString() };
  if (data instanceof Uint8Array) return { bytes: Buffer.from(data).toString("base64") };
  if (typeof data === "string") return /^https?:/.test(data) ? { url: data } : { bytes: data };
  const said = (data ?? {}) as { type?: string; url?: unknown; data?: unknown; reference?: object };
  if (said.type === "reference") return { reference: Object.values(said.reference ?? {}).join() };
  if (said.type === "url") return { url: String(said.url) };
  return said.type === "data" ? sourceOf(said.data) : {};
}
