import type { Tool } from "./shapes.js";

/** Returns the item type of a call, by the tool's name. */
export type CallKinds = (toolName: string) => string;

/** The item types for the calls of `tools`. Provider-defined tools have their own types. */
export function kindsOf(tools: readonly Tool[] = []): CallKinds {
  const kinds = new Map<string, string>();
  for (const { name, id } of tools) {
    const kind = id === undefined ? undefined : DEFINED[id];
    if (kind !== undefined) kinds.set(name, kind);
  }
  return (toolName) => kinds.get(toolName) ?? "function_call";
}

/** The item type of the output of a call. */
export function outputKind(callKind: string): string {
  return callKind === "tool_search_call" ? "tool_search_output" : `${callKind}_output`;
}

/**
 * The item type of a hosted call, by the prefix of its id. Ids of other providers get a type whose
 * ids may have any prefix.
 */
export function hostedKind(id: string): string {
  return HOSTED[id.split("_", 1)[0] ?? ""] ?? "mcp_call";
}

const DEFINED: { [toolId: string]: string } = {
  "openai.apply_patch": "apply_patch_call",
  "openai.computer": "computer_call",
  "openai.custom": "custom_tool_call",
  "openai.local_shell": "local_shell_call",
  "openai.shell": "shell_call",
  "openai.tool_search": "tool_search_call",
};

const HOSTED: { [prefix: string]: string } = {
  ci: "code_interpreter_call",
  fs: "file_search_call",
  ig: "image_generation_call",
  mcp: "mcp_call",
  ws: "web_search_call",
};
