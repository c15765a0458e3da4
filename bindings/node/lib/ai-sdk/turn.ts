import { reconcile } from "../reconcile.js";
import { repair, type Mend, type Policy, type PolicyChoices } from "../repair.js";
import type { Ending } from "./answer.js";
import { askFor, hasLateOutput, type Conversations } from "./conversations.js";
import { Freed } from "./freed.js";
import { itemsOf, itemsOfAnswer, type Item } from "./items.js";
import { kindsOf, type CallKinds } from "./kinds.js";
import { idsOf, type Known, type Lease, type Ledger } from "./ledger.js";
import { mended } from "./mended.js";
import type { Report } from "./report.js";
import { serverStateOf, type ServerState } from "./server-state.js";
import type { CallOptions } from "./shapes.js";
import { sourcesOf } from "./sources.js";

/** By what turns are made. */
export interface Rules {
  readonly conversations?: Conversations | undefined;
  readonly policy?: Policy | undefined;
}

/**
 * One call of a model: what is sent of its prompt, and what is known once it was answered.
 *
 * ```text
 * open ---> over: the answer is whole     the server holds what was sent, and the answer
 *   |-----> over: it was refused          it holds what it held
 *   '-----> over: it broke off            nobody knows
 * ```
 */
export class Turn {
  #isOver = false;
  readonly #lease: Lease | undefined;

  private constructor(
    private readonly ledger: Ledger,
    /** The messages to send. */
    readonly prompt: CallOptions["prompt"],
    readonly report: Report,
    private readonly kinds: CallKinds,
    private readonly sent: readonly Item[],
    private readonly believed: Believed | undefined,
  ) {
    this.#lease = believed && ledger.lease(believed.state);
  }

  /** Opens a turn; `anew` asks for what the server holds, whatever is known. */
  static async open(
    params: CallOptions,
    ledger: Ledger,
    rules: Rules,
    anew = false,
  ): Promise<Turn> {
    const state = serverStateOf(params.providerOptions);
    const kinds = kindsOf(params.tools);
    const mapped = itemsOf(params.prompt, { kinds, besideState: state !== undefined });
    const believed = state && (await believedOf(state, mapped.items, ledger, rules, anew, params));
    const freed = new Freed(mapped.items, ledger, believed);
    const isSent = (item: Item) => isSentBesideState(item, freed.has(item));
    const { items, resent, mends } = repaired(freed.items, believed, rules, isSent);
    const sources = sourcesOf(freed.items, items);
    const held = believed?.known.items;
    const isFreed = (item: Item) => freed.has(item);
    const prompt = mended(params.prompt, mapped, sources, { isFreed, ...(held && { held }) });
    const done = [...(believed?.mends ?? []), ...mends, ...freed.mends(sources)];
    const report = { resent, mends: done, state };
    const sent = items.filter(isSent).map((item) => freed.known(item));
    return new Turn(ledger, prompt, report, kinds, sent, believed);
  }

  /** Whether a refusal may be due to what was believed, and asking would tell. */
  get canAsk(): boolean {
    return this.believed?.canAsk ?? false;
  }

  /** Whether this turn may fare otherwise than one that was refused: more is held now, or less. */
  differsFrom(refused: Turn): boolean {
    const hasDeleted = (this.believed?.mends.length ?? 0) > 0;
    return hasDeleted || JSON.stringify(this.sent) !== JSON.stringify(refused.sent);
  }

  /** The answer is whole. */
  ended({ content, responseId }: Ending): void {
    if (!this.#isFirst() || !this.believed || !this.#lease) return;
    const { state, known } = this.believed;
    const answered = itemsOfAnswer(content, this.kinds);
    const now = { ...known, items: [...known.items, ...this.sent, ...answered] };
    this.ledger.heard(answered);
    this.ledger.settle(state, this.#lease, now);
    if (state.by === "previousResponseId" && responseId) this.ledger.chain(responseId, now);
  }

  /** The server refused the prompt, and kept nothing of it. Where it can be asked, it will be. */
  refused(): void {
    if (!this.#isFirst() || !this.believed || !this.#lease) return;
    const { state, known, canAsk } = this.believed;
    this.ledger.settle(state, this.#lease, canAsk ? undefined : known);
  }

  /** The answer broke off; these ids of its items were heard. */
  left(ids: Iterable<string> = []): void {
    if (!this.#isFirst()) return;
    this.ledger.leftOff(ids);
    if (this.believed && this.#lease) {
      this.ledger.settle(this.believed.state, this.#lease, undefined);
    }
  }

  #isFirst(): boolean {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    return isFirst;
  }
}

/** What is believed of the state that a turn continues. */
export interface Believed {
  readonly state: ServerState;
  readonly known: Known;
  /** Whether the server can be asked. */
  readonly canAsk: boolean;
  /** What was done to the state itself. */
  readonly mends: readonly Mend[];
}

/**
 * What a server is believed to hold. What is known serves as long as the prompt proves no more, and
 * brings no output for which the server has to make room; else the server is asked where it can be;
 * else what the prompt proves is believed.
 */
async function believedOf(
  state: ServerState,
  items: readonly Item[],
  ledger: Ledger,
  { conversations }: Rules,
  anew: boolean,
  { abortSignal }: CallOptions,
): Promise<Believed> {
  const asked = state.by === "conversation" ? conversations : undefined;
  const remembered = anew ? undefined : ledger.known(state);
  const proven = ledger.proven(items, state, remembered);
  const suffices = proven === 0 && !(asked && hasLateOutput(remembered?.items ?? [], items));
  if (remembered && suffices) {
    return { state, known: remembered, canAsk: asked !== undefined, mends: [] };
  }
  const held = asked && (await askFor(asked, state.id, items, abortSignal));
  const known: Known = {
    items: held?.items ?? items.slice(0, proven),
    isAll: held !== undefined,
    elsewhere: new Set(held && idsOf(items)),
  };
  ledger.learn(state, known);
  return { state, known, canAsk: asked !== undefined, mends: held?.mends ?? [] };
}

interface Repaired {
  readonly items: readonly Item[];
  readonly resent: number;
  readonly mends: readonly Mend[];
}

/**
 * The items as a server accepts them. Beside a state, an item that the SDK's provider does not send
 * (see `isSentBesideState`) is no fault: its repair is not reported, and it is not rejected.
 */
function repaired(
  items: readonly Item[],
  believed: Believed | undefined,
  rules: Rules,
  isSent: (item: Item) => boolean,
): Repaired {
  const policy = rules.policy ?? "repair";
  if (believed === undefined) return { resent: 0, ...repair(items, { policy }) };
  const { items: held, isAll } = believed.known;
  const verdicts = reconcile(held, items);
  const isHeld = (position: number | null) =>
    position !== null && HELD.includes(verdicts[position]?.verdict ?? "");
  const isSilent = (position: number | null) =>
    position !== null && !isSent(items[position] as Item);
  const choices = isAll ? policy : withHiddenCalls(policy);
  if (rejectsReasoning(choices)) repair(items.filter(isSent), { held, policy: choices });
  const left = repair(items, { held, policy: withDroppedReasoning(choices) });
  const mends = left.mends.filter(({ position }) => !isHeld(position) && !isSilent(position));
  return { items: left.items, mends, resent: items.filter((_, at) => isHeld(at)).length };
}

/** Where not all that a server holds is known, it may hold the calls of outputs. */
function withHiddenCalls(policy: Policy): PolicyChoices {
  if (typeof policy === "object") return { ...policy, outputs: "keep" };
  if (policy === "repair") return { outputs: "keep" };
  if (policy === "drop") return { calls: "drop", outputs: "keep" };
  return { calls: "reject", reasoning: "reject", outputs: "keep" };
}

function rejectsReasoning(policy: Policy): boolean {
  return policy === "reject" || (typeof policy === "object" && policy.reasoning === "reject");
}

/** The same choices, except that reasoning is dropped where it would be rejected. */
function withDroppedReasoning(policy: Policy): Policy {
  if (!rejectsReasoning(policy)) return policy;
  const choices = policy === "reject" ? REJECT : (policy as PolicyChoices);
  return { ...choices, reasoning: "drop" };
}

const REJECT: PolicyChoices = { calls: "reject", outputs: "reject" };

/** Verdicts on what a server has, or had and was told to delete. */
const HELD = ["resent", "deleted", "duplicate"];

/**
 * Where a server holds the state, providers send of reasoning only what is sealed and bears no id,
 * or was freed of it.
 */
function isSentBesideState({ type, id, encrypted_content }: Item, isFreed: boolean): boolean {
  return type !== "reasoning" || ((id === undefined || isFreed) && encrypted_content !== undefined);
}
