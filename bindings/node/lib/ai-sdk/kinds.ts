import type { Tool } from "./shapes.js";

/** What kind of item the call of a tool is, by the tool's name. */
export type CallKinds = (toolName: string) => string;

/** The kinds of the calls of `tools`: those that a provider defines have kinds of their own. */
export function kindsOf(tools: readonly Tool[] = []): CallKinds {
  const kinds = new Map<string, string>();
  for (const { name, id } of tools) {
    const kind = id === undefined ? undefined : DEFINED[id];
    if (kind !== undefined) kinds.set(name, kind);
  }
  return (toolName) => kinds.get(toolName) ?? "function_call";
}

/** The kind of the output of a call. */
export function outputKind(callKind: string): string {
  return callKind === "tool_search_call" ? "tool_search_output" : `${callKind}_output`;
}

/** The kind of an item that the provider itself made, by its id. */
export function hostedKind(id: string): string {
  return HOSTED[id.split("_", 1)[0] ?? ""] ?? "web_search_call";
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
