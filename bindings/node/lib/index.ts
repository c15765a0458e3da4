export { check, filterOrphanedReasoning, repair, strip } from "./repair.js";
export type { CheckOptions, Mend, Policy, PolicyChoices, RepairOptions, Repaired } from "./repair.js";
export { reconcile } from "./reconcile.js";
export type { Rule, Verdict } from "./reconcile.js";
export { Tracker } from "./tracker.js";
export type {
  LeftOutReason,
  Plan,
  Standing,
  TrackedResponse,
  TrackerOptions,
  Unresolved,
} from "./tracker.js";
export {
  DuplicateCall,
  DuplicateItem,
  DuplicateOutput,
  EmptyCallId,
  Fault,
  ForeignContent,
  LoneReasoning,
  MalformedId,
  MissingCallId,
  MissingId,
  MissingReasoning,
  OutputWithoutCall,
  OverlongCallId,
  OverlongId,
  ResentItem,
  UnansweredCall,
  UnresolvedReference,
} from "./faults.js";
export type { Finding } from "./faults.js";
export { deliver } from "./deliver.js";
export type { DeliveringClient } from "./deliver.js";
export { convert } from "./convert.js";
export type { ConvertOptions, Converted, Dialect } from "./convert.js";
export { AntiphonError } from "./native.js";
export type { Item } from "./item.js";
export { statefulFetch, wholeFetch } from "./fetch/stateful-fetch.js";
export type { StatefulFetchOptions, WholeFetchOptions } from "./fetch/stateful-fetch.js";
export type { TurnMend, TurnReport } from "./fetch/report.js";
export { toAnthropicStream, toResponsesStream } from "./streams/to-stream.js";
export type { ResponsesStreamOptions, StreamDialect, StreamOptions } from "./streams/to-stream.js";
export type { StreamSource } from "./streams/source.js";
export type { ConvertedStream } from "./streams/converted-stream.js";
export type * from "./streams/responses-events.js";
export type * from "./streams/anthropic-events.js";
