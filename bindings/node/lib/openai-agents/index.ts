/**
 * The OpenAI Agents SDK with correct conversation state: `Runner` and `run` also post the tool
 * outputs that a run has not sent; `repairedSession` is for histories that the program stores.
 */
export { ConversationBusy } from "./queue.js";
export { run, Runner } from "./runner.js";
export { repairedSession } from "./session.js";
