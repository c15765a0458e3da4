/**
 * For the AI SDK: `whole` is a middleware that keeps what a model is given whole, `mend` mends
 * messages before the SDK itself refuses them.
 */
export type { Conversations } from "./conversations.js";
export { mend, type MendOptions } from "./messages.js";
export { whole, type WholeMiddleware, type WholeOptions } from "./middleware.js";
export type { Mend } from "../repair.js";
export type { Report } from "./report.js";
