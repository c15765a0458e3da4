/**
 * The parts of the AI SDK's types that are used here, common to versions 6 and 7. They are copied,
 * so that the types work without either version.
 */

/** Provider options or metadata, by the provider's name. */
export type ProviderValues = {
  readonly [provider: string]: { readonly [name: string]: unknown } | undefined;
};

/** A part of a message or of an answer. */
export interface Part {
  readonly type: string;
  /** The provider and name of a custom part. */
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
  /** In parts that are sent. */
  readonly providerOptions?: ProviderValues | undefined;
  /** In parts of an answer. */
  readonly providerMetadata?: ProviderValues | undefined;
}

/** A message of a prompt or of a program's history. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
  readonly providerOptions?: ProviderValues | undefined;
}

/** The parameters of a model call. */
export interface CallOptions {
  readonly prompt: readonly Message[];
  readonly tools?: readonly Tool[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderValues | undefined;
}

/** A tool. Only provider-defined tools have an id. */
export interface Tool {
  readonly type: string;
  readonly name: string;
  readonly id?: string | undefined;
}

/** A warning of a call. */
export interface Warning {
  readonly type: string;
}

/** An answer without streaming. */
export interface GenerateResult {
  readonly content: readonly Part[];
  readonly finishReason: FinishReason;
  readonly warnings: readonly Warning[];
  readonly response?: { readonly id?: string | undefined } | undefined;
}

/** A streamed answer. */
export interface StreamResult {
  readonly stream: ReadableStream<StreamPart>;
}

/** A part of a stream. */
export interface StreamPart {
  readonly type: string;
}

/** The reason for the end of an answer. */
export type FinishReason = string | { readonly unified: string };

/** A model, as a middleware sees it. */
export interface Model {
  readonly provider: string;
}
