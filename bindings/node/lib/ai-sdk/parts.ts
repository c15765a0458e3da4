import { contentOf } from "./content.js";
import { hostedKind, outputKind, type CallKinds } from "./kinds.js";
import type { Part } from "./shapes.js";

/** An item, as the Responses API has them. */
export type Item = { readonly type: string; readonly [field: string]: unknown };

/** How messages are read. */
export interface Reading {
  /** What the calls of tools that a provider defines are. */
  readonly kinds: CallKinds;
  /**
   * Whether a server holds the state. Then answers to its requests for approval are items, and
   * calls that the provider took apart are the one that they were.
   */
  readonly besideState: boolean;
}

/**
 * The item id that a provider gave to what a part says. Servers of other makes have ids of other
 * forms, of which nothing is known here.
 */
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

/** What any provider says of a part under a name. */
function saidOf({ providerOptions, providerMetadata }: Part, name: string): string | undefined {
  const said = [providerOptions, providerMetadata]
    .flatMap((values) => Object.values(values ?? {}))
    .map((values) => values?.[name]);
  return said.find((value) => typeof value === "string" && value !== "") as string | undefined;
}

/** The item that a part of what a model said stands for, alone or with its neighbours. */
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
      return reading.besideState ? requestOf(part) : undefined;
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
    : { type: "compaction", id, encrypted_content: saidOf(part, "encryptedContent") ?? "" };
}

/**
 * Reasoning with neither an id nor encrypted content is another kind of provider's, and no item.
 */
function reasoningOf(part: Part, id: string | undefined): Item | undefined {
  const encrypted = saidOf(part, "reasoningEncryptedContent");
  if (id === undefined && encrypted === undefined) return undefined;
  return {
    type: "reasoning",
    ...(id !== undefined && { id }),
    summary: part.text ? [{ type: "summary_text", text: part.text }] : [],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

function callOf(part: Part, id: string | undefined, { kinds, besideState }: Reading): Item {
  const whole = besideState ? wholeCallOf(part) : undefined;
  if (whole) return { type: "function_call", ...whole };
  const name = part.toolName ?? "";
  return {
    type: kinds(name),
    ...(id !== undefined && { id }),
    call_id: part.toolCallId ?? "",
    name,
    arguments: textOf(part.input),
  };
}

/** The call of which the provider made several, of which this is one or the result of one. */
function wholeCallOf(part: Part): { id: string; call_id: string; name: string } | undefined {
  const said = Object.values(part.providerOptions ?? part.providerMetadata ?? {})
    .map((values) => values?.["parallelToolCall"] as Record<string, unknown> | undefined)
    .find((values) => values !== undefined);
  if (said === undefined) return undefined;
  const [id, call_id, name] = [said["itemId"], said["toolCallId"], said["toolName"]].map(String);
  return { id: id ?? "", call_id: call_id ?? "", name: name ?? "" };
}

/** A call that the provider itself ran: its result belongs to the same item. */
function hosted(part: Part, id: string | undefined): Item {
  const itemId = id ?? part.toolCallId ?? "";
  return { type: hostedKind(itemId), id: itemId, status: "completed" };
}

/** What stands in the place of a result that was never allowed to be, and is not sent. */
function isDenial({ output }: Part): boolean {
  const { type, value } = (output ?? {}) as { type?: unknown; value?: unknown };
  const inner = (value ?? {}) as { type?: unknown };
  return type === "execution-denied" || (type === "json" && inner.type === "execution-denied");
}

/** The item that a part of a message of tools stands for. */
export function itemOfTool(part: Part, reading: Reading): Item | undefined {
  switch (part.type) {
    case "tool-result":
      return isDenial(part) && isOfApproval(part) ? undefined : resultOf(part, reading);
    case "tool-approval-response": {
      const { approvalId: approval_request_id, approved: approve } = part;
      const type = "mcp_approval_response";
      return reading.besideState ? { type, approval_request_id, approve } : undefined;
    }
    default:
      return undefined;
  }
}

/** The results of a call that was taken apart bear its name, by which they are one output. */
function resultOf(part: Part, { kinds, besideState }: Reading): Item {
  const whole = besideState ? wholeCallOf(part) : undefined;
  const output = outputOf(part.output);
  if (whole) {
    const { call_id, name } = whole;
    return { type: "function_call_output", call_id, name, output };
  }
  const type = outputKind(kinds(part.toolName ?? ""));
  return { type, call_id: part.toolCallId ?? "", output };
}

/** A denial that answers a provider's request for approval: the answer itself says so. */
function isOfApproval({ output }: Part): boolean {
  return saidOf(output as Part, "approvalId") !== undefined;
}

function outputOf(output: unknown): unknown {
  const { type, value } = (output ?? {}) as { type?: string; value?: unknown };
  return type === "content" ? contentOf(value as Part[]) : textOf(value);
}

/** A value as text. What is no JSON only has to be told apart from nothing. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return String(value);
  }
}
