/** A fault that a provider would reject in a list of items, with its error text. */
export interface Finding {
  /** The item's position in the input; null for an item that the server holds. */
  position: number | null;
  /** The item's id, if it has one. */
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

/** A fault that a provider would reject in a list of items, as an error. */
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

/** The list contains an item twice, or the server already holds it. */
export class DuplicateItem extends Fault {}
/** Two calls have the same `call_id`. */
export class DuplicateCall extends Fault {}
/** A call has two outputs. */
export class DuplicateOutput extends Fault {}
/** A call has no output. */
export class UnansweredCall extends Fault {}
/** An output has no call. */
export class OutputWithoutCall extends Fault {}
/** Reasoning has no item after it. */
export class LoneReasoning extends Fault {}
/** An item lacks the reasoning that must precede it. */
export class MissingReasoning extends Fault {}
/** Encrypted content comes from another provider or model. */
export class ForeignContent extends Fault {}
/** A reference names an unknown item. */
export class UnresolvedReference extends Fault {}
/** An id lacks the prefix of the item's type. */
export class MalformedId extends Fault {}
/** An id is too long. */
export class OverlongId extends Fault {}
/** An item has no id, although its type needs one. */
export class MissingId extends Fault {}
/** A `call_id` is empty. */
export class EmptyCallId extends Fault {}
/** A `call_id` is missing. */
export class MissingCallId extends Fault {}
/** A `call_id` is too long. */
export class OverlongCallId extends Fault {}
/** The server holds the item already. It would accept the item and store it twice. */
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
  missing_id: MissingId,
  empty_call_id: EmptyCallId,
  missing_call_id: MissingCallId,
  overlong_call_id: OverlongCallId,
  resent_item: ResentItem,
};

/** Creates the fault of a finding, in its own class. */
export function faultOf(finding: Finding): Fault {
  return new (CLASSES[finding.fault] ?? Fault)(finding);
}
