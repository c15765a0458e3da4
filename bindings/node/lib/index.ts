export { wholeFetch } from "./fetch/whole-fetch.js";
export type { WholeFetchOptions } from "./fetch/whole-fetch.js";
export type { TurnReport, TurnMend } from "./fetch/report.js";
