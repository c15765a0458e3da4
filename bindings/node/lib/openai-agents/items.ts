import type { AgentInputItem } from "@openai/agents";

/** An item of the SDK as the engine reads it. */
export interface WireItem {
  readonly type: string;
  readonly id?: string;
  readonly call_id?: string;
}

/** The id of the SDK for items of models without item ids. */
const PLACEHOLDER_ID = "FAKE_ID";

/** The types that the SDK renames. */
const WIRE_TYPES: Readonly<Record<string, string>> = {
  function_call_result: "function_call_output",
  computer_call_result: "computer_call_output",
};

/** The fields of the SDK's items that the API names otherwise. */
interface SdkItem {
  readonly id?: string;
  readonly callId?: string;
  readonly type?: string;
  readonly providerData?: Readonly<Record<string, unknown>>;
}

/** Converts an item of the SDK to the form of the Responses API. */
export function wireOf(item: AgentInputItem): WireItem {
  const { id, callId, type = "message", providerData, ...rest } = item as SdkItem;
  const hosted = type === "hosted_tool_call" ? providerData?.["type"] : undefined;
  return {
    ...rest,
    type: typeof hosted === "string" ? hosted : (WIRE_TYPES[type] ?? type),
    ...(id !== undefined && id !== PLACEHOLDER_ID && { id }),
    ...(callId !== undefined && { call_id: callId }),
  };
}

/** The item from which a wire item was made, with the wire item's id if the engine changed it. */
export function withIdOf({ id }: WireItem, item: AgentInputItem): AgentInputItem {
  if (wireOf(item).id === id) return item;
  const { id: _, ...rest } = item;
  return (id === undefined ? rest : { ...rest, id }) as AgentInputItem;
}
