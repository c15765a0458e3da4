/** What a provider would refuse in a list of items, and its words for it. */
export interface Finding {
  /** Where it is in the list that was given; null for an item that the server holds. */
  position: number | null;
  /** The item's id, where it has one. */
  id: string | null;
  /** The fault's name: `"lone_reasoning"`. */
  fault: string;
  /** The provider's text. */
  message: string;
  /** The provider's `error.code`. */
  code: string | null;
  /** The provider's `error.param`. */
  param: string | null;
}

/** What a provider would refuse in a list of items, as an error. */
export class Fault extends Error implements Finding {
  readonly position: number | null;
  readonly id: string | null;
  readonly fault: string;
  readonly code: string | null;
  readonly param: string | null;

  constructor(finding: Finding) {
    super(finding.message);
    this.name = new.target.name;
    this.position = finding.position;
    this.id = finding.id;
    this.fault = finding.fault;
    this.code = finding.code;
    this.param = finding.param;
  }
}

/** An item stands in the list twice, or is held already. */
export class DuplicateItem extends Fault {}
/** Two calls bear one `call_id`. */
export class DuplicateCall extends Fault {}
/** A call has two outputs. */
export class DuplicateOutput extends Fault {}
/** A call has no output. */
export class UnansweredCall extends Fault {}
/** An output has no call. */
export class OutputWithoutCall extends Fault {}
/** Reasoning leads to nothing. */
export class LoneReasoning extends Fault {}
/** An item is there without the reasoning that led to it. */
export class MissingReasoning extends Fault {}
/** Sealed content is another provider's. */
export class ForeignContent extends Fault {}
/** A reference names an item that is not there. */
export class UnresolvedReference extends Fault {}
/** An id is not of the form that the item's kind wants. */
export class MalformedId extends Fault {}
/** An id is too long. */
export class OverlongId extends Fault {}
/** A `call_id` is empty. */
export class EmptyCallId extends Fault {}
/** A `call_id` is not there. */
export class MissingCallId extends Fault {}
/** A `call_id` is too long. */
export class OverlongCallId extends Fault {}
/** A server that holds the item would take it, and hold it twice. */
export class ResentItem extends Fault {}

const CLASSES: Readonly<Record<string, typeof Fault>> = {
  duplicate_item: DuplicateItem,
  duplicate_call: DuplicateCall,
  duplicate_output: DuplicateOutput,
  unanswered_call: UnansweredCall,
  output_without_call: OutputWithoutCall,
  lone_reasoning: LoneReasoning,
  missing_reasoning: MissingReasoning,
  foreign_content: ForeignContent,
  unresolved_reference: UnresolvedReference,
  malformed_id: MalformedId,
  overlong_id: OverlongId,
  empty_call_id: EmptyCallId,
  missing_call_id: MissingCallId,
  overlong_call_id: OverlongCallId,
  resent_item: ResentItem,
};

/** The fault that a finding tells of, in its own class. */
export function faultOf(finding: Finding): Fault {
  return new (CLASSES[finding.fault] ?? Fault)(finding);
}
