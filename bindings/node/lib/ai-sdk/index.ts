/**
 * Support for the AI SDK: `stateful` creates a middleware that sends each item to a conversation
 * once; `mend` repairs messages before the SDK itself rejects them.
 */
export type { Conversations } from "./conversations.js";
export { mend, type MendOptions } from "./messages.js";
export { stateful, whole } from "./middleware.js";
export type {
  StatefulMiddleware,
  StatefulOptions,
  WholeMiddleware,
  WholeOptions,
} from "./middleware.js";
export type { Mend } from "../repair.js";
export type { Report } from "./report.js";
