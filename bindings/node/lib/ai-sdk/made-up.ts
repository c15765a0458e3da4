import type { Item } from "./items.js";
import type { Part } from "./shapes.js";

/** A made-up output of a call of `toolName` as a part of a message. */
export function answerOf(item: Item, toolName: string): Part {
  const toolCallId = String(item["call_id"] ?? item["id"]);
  return { type: "tool-result", toolCallId, toolName, output: outputOf(item) };
}

/** The results of tools that a provider defines are JSON of their own shapes. */
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
