/**
 * An item: a plain object of the Responses API. The types of `openai` (`ResponseInputItem`,
 * `ResponseOutputItem`) are items, and so is any other object that JSON can express.
 */
export type Item = object;
