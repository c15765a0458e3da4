import { RunHandoffOutputItem, RunToolCallOutputItem, user } from "@openai/agents";
import type { AgentInputItem, ModelResponse, RunItem } from "@openai/agents";

/** A call of a local function, in the SDK's form. */
export type FunctionCall = Extract<AgentInputItem, { type: "function_call" }>;

/** The output of a tool, in the SDK's form. */
export type Output = AgentInputItem & { callId: string };

/** The outputs among a run's items, without those of calls that the SDK cancelled. */
export function outputsOf(items: readonly RunItem[]): Output[] {
  return items
    .filter((item) => item instanceof RunToolCallOutputItem || item instanceof RunHandoffOutputItem)
    .map(({ rawItem }) => rawItem as Output)
    .filter((output) => !("status" in output) || output.status !== "incomplete");
}

/** The output of a function call with a text. */
export function textOutput(call: FunctionCall, text: string): Output {
  return {
    type: "function_call_result",
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    callId: call.callId,
    status: "completed",
    output: { type: "text", text },
    ...(call.caller && { caller: call.caller }),
  };
}

/** The outputs that answer calls of this response: the latest one for each call. */
export function matchingOutputs(response: ModelResponse, outputs: readonly Output[]): Output[] {
  const byCall = new Map(outputs.map((output) => [output.callId, output]));
  return response.output.flatMap((item) => byCall.get(callIdOf(item) ?? "") ?? []);
}

/** The `callId` of a call or an output. */
export function callIdOf(item: object): string | undefined {
  return "callId" in item && typeof item.callId === "string" ? item.callId : undefined;
}

/** The number of responses whose outputs are stored. */
const MAX_RESPONSES = 256;

/** The number of characters of all stored outputs. */
const MAX_CHARACTERS = 16_000_000;

/**
 * Outputs for calls of responses, stored until a run continues the response.
 *
 * No API appends to a stored response, so the next request of the chain has to send them. Each
 * response belongs to an account, and other accounts cannot find its outputs. The oldest are
 * dropped first; outputs that exceed the limit alone are not stored.
 */
export class UnsentOutputs {
  readonly #stored = new Map<string, { size: number; outputs: Output[] }>();

  /** Stores the outputs for calls of a response. */
  store(account: string, response: string, outputs: Output[]): void {
    const size = JSON.stringify(outputs).length;
    if (size > MAX_CHARACTERS) return;
    const key = keyOf(account, response);
    this.#stored.delete(key);
    this.#stored.set(key, { size, outputs });
    for (const oldest of this.#stored.keys()) {
      if (!this.#exceedsLimits()) break;
      this.#stored.delete(oldest);
    }
  }

  /** The input of a run that continues a response, preceded by the response's outputs. */
  prependTo(
    account: string,
    response: string,
    input: string | AgentInputItem[],
  ): string | AgentInputItem[] {
    const stored = this.#stored.get(keyOf(account, response))?.outputs ?? [];
    const items = typeof input === "string" ? [user(input)] : input;
    const answered = new Set(items.map(callIdOf));
    const missing = stored.filter(({ callId }) => !answered.has(callId));
    return missing.length > 0 ? [...missing, ...items] : input;
  }

  #exceedsLimits(): boolean {
    const sizes = [...this.#stored.values()].map(({ size }) => size);
    const characters = sizes.reduce((sum, size) => sum + size, 0);
    return sizes.length > MAX_RESPONSES || characters > MAX_CHARACTERS;
  }
}

function keyOf(account: string, response: string): string {
  return `${account}\n${response}`;
}
