/**
 * What is used of the AI SDK's shapes, as version 6 and version 7 have them in common. Written out,
 * so that neither version has to be installed for the types to be whole.
 */

/** What a provider says or is told about something, by the provider's name. */
export type ProviderValues = {
  readonly [provider: string]: { readonly [name: string]: unknown } | undefined;
};

/** A part of a message or of an answer. */
export interface Part {
  readonly type: string;
  /** Of a custom part: which one of which provider's. */
  readonly kind?: string | undefined;
  readonly text?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly providerExecuted?: boolean | undefined;
  readonly approvalId?: string | undefined;
  readonly approved?: boolean | undefined;
  readonly data?: unknown;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
  /** Of a part that is sent. */
  readonly providerOptions?: ProviderValues | undefined;
  /** Of a part that a model gave. */
  readonly providerMetadata?: ProviderValues | undefined;
}

/** A message, as a model gets it or as a program keeps it. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
  readonly providerOptions?: ProviderValues | undefined;
}

/** What a model is called with. */
export interface CallOptions {
  readonly prompt: readonly Message[];
  readonly tools?: readonly Tool[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderValues | undefined;
}

/** A tool: one of the program's own has no id. */
export interface Tool {
  readonly type: string;
  readonly name: string;
  readonly id?: string | undefined;
}

/** What is told beside an answer. */
export interface Warning {
  readonly type: string;
}

/** An answer that came whole. */
export interface GenerateResult {
  readonly content: readonly Part[];
  readonly finishReason: FinishReason;
  readonly warnings: readonly Warning[];
  readonly response?: { readonly id?: string | undefined } | undefined;
}

/** An answer that comes in parts. */
export interface StreamResult {
  readonly stream: ReadableStream<StreamPart>;
}

/** A part of a stream. */
export interface StreamPart {
  readonly type: string;
}

/** Why an answer is over. */
export type FinishReason = string | { readonly unified: string };

/** What a middleware sees of a model. */
export interface Model {
  readonly provider: string;
}
