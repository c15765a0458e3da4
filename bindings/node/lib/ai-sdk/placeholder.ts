import type { Item } from "./items.js";
import type { Part } from "./shapes.js";

/** Converts a placeholder output to a part of a message. */
export function placeholderPart(item: Item, toolName: string): Part {
  const toolCallId = String(item["call_id"] ?? item["id"]);
  return { type: "tool-result", toolCallId, toolName, output: outputOf(item) };
}

/** The output in the SDK's form. Provider-defined tools have JSON outputs of their own shapes. */
function outputOf(item: Item): unknown {
  const { output, status, tools } = item;
  switch (item.type) {
    case "shell_call_output":
      return { type: "json", value: { output } };
    case "local_shell_call_output":
      return { type: "json", value: { output } };
    case "apply_patch_call_output":
      return { type: "json", value: { status, output } };
    case "tool_search_output":
      return { type: "json", value: { tools } };
    default:
      return { type: "text", value: String(output) };
  }
}
