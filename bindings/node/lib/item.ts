/**
 * What may stand in a list: a plain object as the Responses API has it. The types of `openai`
 * (`ResponseInputItem`, `ResponseOutputItem`) are such, and so is whatever else JSON can carry.
 */
export type Item = object;
