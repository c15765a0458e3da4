import { contentOf } from "./content.js";
import { hostedKind, outputKind, type CallKinds } from "./kinds.js";
import type { Part } from "./shapes.js";

/** An item of the Responses API. */
export type Item = { readonly type: string; readonly [field: string]: unknown };

/** Options for reading messages. */
export interface Reading {
  /** The item types of calls. */
  readonly kinds: CallKinds;
  /**
   * Whether a server stores the state. If so, answers to approval requests are items, and calls
   * that the provider had split are one item.
   */
  readonly hasServerState: boolean;
}

/** The item id that a provider assigned to a part. Unknown forms of ids are ignored. */
export function itemIdOf({ providerOptions, providerMetadata }: Part): string | undefined {
  for (const [provider, values] of Object.entries({ ...providerMetadata, ...providerOptions })) {
    const id = values?.["itemId"];
    if (typeof id !== "string" || id === "") continue;
    if (OPENAI.includes(provider) || OF_KNOWN_FORM.test(id)) return id;
  }
  return undefined;
}

const OPENAI = ["openai", "azure"];
const OF_KNOWN_FORM = /^(msg|rs|fc|ctc|ws|fs|ci|ig|mcp)_[\w-]+$/;

/** The value of a field in any provider's metadata of a part. */
function metadataOf({ providerOptions, providerMetadata }: Part, name: string): string | undefined {
  const found = [providerOptions, providerMetadata]
    .flatMap((values) => Object.values(values ?? {}))
    .map((values) => values?.[name]);
  return found.find((value) => typeof value === "string" && value !== "") as string | undefined;
}

/** The item of a part of a model message. Adjacent parts may belong to the same item. */
export function itemOfAssistant(part: Part, reading: Reading): Item | undefined {
  const id = itemIdOf(part);
  switch (part.type) {
    case "text":
      return messageOf(part.text ?? "", id);
    case "reasoning":
      return reasoningOf(part, id);
    case "tool-call":
      return part.providerExecuted ? hosted(part, id) : callOf(part, id, reading);
    case "tool-approval-request":
      return reading.hasServerState ? requestOf(part) : undefined;
    case "custom":
      return part.kind?.endsWith(".compaction") ? compactionOf(part, id) : undefined;
    default:
      return undefined;
  }
}

function requestOf({ approvalId: id }: Part): Item {
  return { type: "mcp_approval_request", id };
}

function messageOf(text: string, id: string | undefined): Item {
  const content = [{ type: "output_text", text }];
  return { type: "message", role: "assistant", ...(id !== undefined && { id }), content };
}

function compactionOf(part: Part, id: string | undefined): Item | undefined {
  return id === undefined
    ? undefined
    : { type: "compaction", id, encrypted_content: metadataOf(part, "encryptedContent") ?? "" };
}

/** Reasoning without an id and encrypted content comes from another kind of provider: no item. */
function reasoningOf(part: Part, id: string | undefined): Item | undefined {
  const encrypted = metadataOf(part, "reasoningEncryptedContent");
  if (id === undefined && encrypted === undefined) return undefined;
  return {
    type: "reasoning",
    ...(id !== undefined && { id }),
    summary: part.text ? [{ type: "summary_text", text: part.text }] : [],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

function callOf(part: Part, id: string | undefined, { kinds, hasServerState }: Reading): Item {
  const original = hasServerState ? originalCallOf(part) : undefined;
  if (original) return { type: "function_call", ...original };
  const name = part.toolName ?? "";
  return {
    type: kinds(name),
    ...(id !== undefined && { id }),
    call_id: part.toolCallId ?? "",
    name,
    arguments: textOf(part.input),
  };
}

/** The original call of a part that the provider split into several calls. */
function originalCallOf(part: Part): { id: string; call_id: string; name: string } | undefined {
  const call = Object.values(part.providerOptions ?? part.providerMetadata ?? {})
    .map((values) => values?.["parallelToolCall"] as Record<string, unknown> | undefined)
    .find((values) => values !== undefined);
  if (call === undefined) return undefined;
  const [id, call_id, name] = [call["itemId"], call["toolCallId"], call["toolName"]].map(String);
  return { id: id ?? "", call_id: call_id ?? "", name: name ?? "" };
}

/** A provider-executed call. Its result belongs to the same item. */
function hosted(part: Part, id: string | undefined): Item {
  const itemId = id ?? part.toolCallId ?? "";
  return { type: hostedKind(itemId), id: itemId, status: "completed" };
}

/** Whether a result only records that the execution was denied; it is not sent. */
function isDenial({ output }: Part): boolean {
  const { type, value } = (output ?? {}) as { type?: unknown; value?: unknown };
  const inner = (value ?? {}) as { type?: unknown };
  return type === "execution-denied" || (type === "json" && inner.type === "execution-denied");
}

/** The item of a part of a tool message. */
export function itemOfTool(part: Part, reading: Reading): Item | undefined {
  switch (part.type) {
    case "tool-result":
      return isDenial(part) && isOfApproval(part) ? undefined : resultOf(part, reading);
    case "tool-approval-response": {
      const { approvalId: approval_request_id, approved: approve } = part;
      const type = "mcp_approval_response";
      return reading.hasServerState ? { type, approval_request_id, approve } : undefined;
    }
    default:
      return undefined;
  }
}

/** The output item of a result. Results of a split call have its name, and form one output. */
function resultOf(part: Part, { kinds, hasServerState }: Reading): Item {
  const original = hasServerState ? originalCallOf(part) : undefined;
  const output = outputOf(part.output);
  if (original) {
    const { call_id, name } = original;
    return { type: "function_call_output", call_id, name, output };
  }
  const type = outputKind(kinds(part.toolName ?? ""));
  return { type, call_id: part.toolCallId ?? "", output };
}

/** Whether a denial answers a provider's approval request, which has its own item. */
function isOfApproval({ output }: Part): boolean {
  return metadataOf(output as Part, "approvalId") !== undefined;
}

function outputOf(output: unknown): unknown {
  const { type, value } = (output ?? {}) as { type?: string; value?: unknown };
  return type === "content" ? contentOf(value as Part[]) : textOf(value);
}

/** A value as text. For a value that JSON cannot express, any non-empty text is enough. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return String(value);
  }
}
