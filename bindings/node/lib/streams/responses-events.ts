/**
 * An event of a Responses API stream that was converted from an AI SDK stream. If you need the
 * types of `openai`, use `event as ResponseStreamEvent`; they lack `ai-sdk:…` items and the names
 * of Open Responses.
 */
export type ResponsesEvent = { sequence_number: number } & (
  | ResponseLifecycleEvent
  | OutputItemEvent
  | ContentPartEvent
  | TextEvent
  | ReasoningEvent
  | CallEvent
);

/** The first events, and the terminal one. */
export interface ResponseLifecycleEvent {
  type:
    | "response.created"
    | "response.in_progress"
    | "response.completed"
    | "response.incomplete"
    | "response.failed";
  response: ResponseObject;
}

/** The start or end of an item. */
export interface OutputItemEvent {
  type: "response.output_item.added" | "response.output_item.done";
  output_index: number;
  item: OutputItem;
}

/** The start or end of a part of an item's content. */
export interface ContentPartEvent {
  type: "response.content_part.added" | "response.content_part.done";
  item_id: string;
  output_index: number;
  content_index: number;
  part: OutputContent;
}

/** The text of a message. The AI SDK provides no `logprobs`. */
export type TextEvent = { item_id: string; output_index: number; content_index: number } & (
  | { type: "response.output_text.delta"; delta: string; logprobs: never[] }
  | { type: "response.output_text.done"; text: string; logprobs: never[] }
  | {
      type: "response.output_text.annotation.added";
      annotation_index: number;
      annotation: Annotation;
    }
);

/** The text of reasoning. */
export type ReasoningEvent = { item_id: string; output_index: number } & (
  | { type: "response.reasoning_summary_part.added"; summary_index: number; part: SummaryText }
  | { type: "response.reasoning_summary_part.done"; summary_index: number; part: SummaryText }
  | { type: "response.reasoning_summary_text.delta"; summary_index: number; delta: string }
  | { type: "response.reasoning_summary_text.done"; summary_index: number; text: string }
  | { type: "response.reasoning_text.delta"; content_index: number; delta: string }
  | { type: "response.reasoning_text.done"; content_index: number; text: string }
  | { type: "response.reasoning.delta"; content_index: number; delta: string }
  | { type: "response.reasoning.done"; content_index: number; text: string }
);

/** The input of a call. */
export type CallEvent = { item_id: string; output_index: number } & (
  | { type: "response.function_call_arguments.delta"; delta: string }
  | { type: "response.function_call_arguments.done"; arguments: string; name?: string }
  | { type: "response.custom_tool_call_input.delta"; delta: string }
  | { type: "response.custom_tool_call_input.done"; input: string }
);

/**
 * A response. `[field]` are fields copied from the request. It lacks the fields that `openai` adds
 * to its `Response`, such as `output_text`.
 */
export interface ResponseObject {
  id: string;
  object: "response";
  created_at: number;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  model: string;
  output: OutputItem[];
  error: { code: string; message: string } | null;
  incomplete_details: { reason: string } | null;
  usage: ResponseUsage | null;
  [field: string]: unknown;
}

/** The token usage of an answer. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** The status of an item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** An item of an answer. */
export type OutputItem =
  | { type: "message"; id: string; role: "assistant"; status: ItemStatus; content: MessageContent[] }
  | ReasoningItem
  | FunctionCallItem
  | { type: "function_call_output"; id: string; call_id: string; output: unknown; status?: ItemStatus }
  | { type: "custom_tool_call"; id: string; call_id: string; name: string; input: string }
  | { type: "custom_tool_call_output"; id: string; call_id: string; output: unknown }
  /** A part of the AI SDK for which the Responses API has no item. */
  | { type: `ai-sdk:${string}`; id: string; status: ItemStatus; content: unknown };

/** Reasoning. */
export interface ReasoningItem {
  type: "reasoning";
  id: string;
  summary: SummaryText[];
  content?: { type: "reasoning_text"; text: string }[];
  encrypted_content?: string | null;
  status?: ItemStatus;
}

/** A call of a function. */
export interface FunctionCallItem {
  type: "function_call";
  id: string;
  call_id: string;
  name: string;
  arguments: string;
  status: ItemStatus;
}

/** A part of an item's content. */
export type OutputContent = MessageContent | { type: "reasoning_text"; text: string };

/** A part of a message's content. */
export type MessageContent =
  | { type: "output_text"; text: string; annotations: Annotation[]; logprobs?: never[] }
  | { type: "refusal"; refusal: string };

/** The source of a text. */
export type Annotation =
  | { type: "file_citation"; file_id: string; filename: string; index: number }
  | { type: "url_citation"; url: string; title: string; start_index: number; end_index: number }
  | {
      type: "container_file_citation";
      container_id: string;
      file_id: string;
      filename: string;
      start_index: number;
      end_index: number;
    }
  | { type: "file_path"; file_id: string; index: number };

/** A part of a summary. */
export interface SummaryText {
  type: "summary_text";
  text: string;
}
