/** A chunk of a stream of Chat Completions. */
export interface ChatChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  /** Empty in the last chunk, which has the usage. */
  choices: { index: 0; delta: ChatDelta; logprobs: unknown; finish_reason: ChatFinishReason | null }[];
  usage?: ChatUsage | null;
  service_tier?: string;
}

/** The last event of a failed stream. */
export interface ChatError {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** A whole answer. */
export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: { index: 0; message: ChatMessage; logprobs: unknown; finish_reason: ChatFinishReason }[];
  usage: ChatUsage | null;
  service_tier?: string;
}

/** The reason why an answer ended. */
export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** The message of an answer. */
export interface ChatMessage {
  role: "assistant";
  content: string | null;
  refusal: string | null;
  reasoning_content?: string;
  reasoning_details?: unknown[];
  tool_calls?: ChatToolCall[];
  annotations: unknown[];
}

/** A call of a tool. */
export type ChatToolCall =
  | { id: string; type: "function"; function: { name: string; arguments: string } }
  | { id: string; type: "custom"; custom: { name: string; input: string } };

/** A piece of a message. The entries of `tool_calls` have an `index`. */
export interface ChatDelta {
  role?: "assistant";
  content?: string;
  refusal?: string;
  reasoning_content?: string;
  reasoning_details?: unknown[];
  tool_calls?: { index: number; [field: string]: unknown }[];
  annotations?: unknown[];
}

/** The token usage of an answer. */
export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [field: string]: unknown;
}
