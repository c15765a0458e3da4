import { reconcile } from "../reconcile.js";
import { repair, type Mend, type Policy, type PolicyChoices } from "../repair.js";
import type { Ending } from "./answer.js";
import { fetchHeld, hasLateOutput, type Conversations } from "./conversations.js";
import { applyRepair } from "./draft.js";
import { IdRemoval } from "./id-removal.js";
import { itemsOf, itemsOfAnswer, type Item } from "./items.js";
import { kindsOf, type CallKinds } from "./kinds.js";
import { idsOf, type Known, type Lease, type Ledger } from "./ledger.js";
import type { Report } from "./report.js";
import { serverStateOf, type ServerState } from "./server-state.js";
import type { CallOptions } from "./shapes.js";
import { sourcesOf } from "./sources.js";

/** The options of the middleware that concern turns. */
export interface Rules {
  readonly conversations?: Conversations | undefined;
  readonly policy?: Policy | undefined;
}

/**
 * One call of a model: the prompt to send, and the server's state after the answer.
 *
 * ```text
 * open ---> over: the answer is complete   the server holds the sent items and the answer
 *   |-----> over: it was rejected          the server's items are unchanged
 *   '-----> over: it broke off             the server's items are unknown
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
    private readonly assumed: Assumed | undefined,
  ) {
    this.#lease = assumed && ledger.lease(assumed.state);
  }

  /** Opens a turn. `refetch` lists the server's items even if they are known. */
  static async open(
    params: CallOptions,
    ledger: Ledger,
    rules: Rules,
    refetch = false,
  ): Promise<Turn> {
    const state = serverStateOf(params.providerOptions);
    const kinds = kindsOf(params.tools);
    const given = itemsOf(params.prompt, { kinds, hasServerState: state !== undefined });
    const assumed =
      state && (await assumedState(state, given.items, ledger, rules, refetch, params));
    const removal = new IdRemoval(given.items, ledger, assumed);
    const losesId = (item: Item) => removal.has(item);
    const isSent = (item: Item) => isSentWithState(item, losesId(item));
    const { items, resent, mends } = repairItems(removal.items, assumed, rules, isSent);
    const sources = sourcesOf(removal.items, items);
    const held = assumed?.known.items;
    const prompt = applyRepair(params.prompt, given, sources, { losesId, ...(held && { held }) });
    const allMends = [...(assumed?.mends ?? []), ...mends, ...removal.mends(sources)];
    const report = { resent, mends: allMends, state };
    const sent = items.filter(isSent).map((item) => removal.originalOf(item));
    return new Turn(ledger, prompt, report, kinds, sent, assumed);
  }

  /** Whether a rejection may come from a wrong assumption that a new list would correct. */
  get canAsk(): boolean {
    return this.assumed?.canAsk ?? false;
  }

  /** Whether this turn differs from a rejected one, so that a retry may succeed. */
  differsFrom(refused: Turn): boolean {
    const hasDeleted = (this.assumed?.mends.length ?? 0) > 0;
    return hasDeleted || JSON.stringify(this.sent) !== JSON.stringify(refused.sent);
  }

  /** Records a complete answer. */
  ended({ content, responseId }: Ending): void {
    if (!this.#close() || !this.assumed || !this.#lease) return;
    const { state, known } = this.assumed;
    const answered = itemsOfAnswer(content, this.kinds);
    const now = { ...known, items: [...known.items, ...this.sent, ...answered] };
    this.ledger.confirm(answered);
    this.ledger.settle(state, this.#lease, now);
    if (state.by === "previousResponseId" && responseId) this.ledger.chain(responseId, now);
  }

  /**
   * Records a rejection: the server stored nothing. If it can list its items, the next turn asks.
   */
  refused(): void {
    if (!this.#close() || !this.assumed || !this.#lease) return;
    const { state, known, canAsk } = this.assumed;
    this.ledger.settle(state, this.#lease, canAsk ? undefined : known);
  }

  /** Records an interrupted answer with the ids of its received items. */
  left(ids: Iterable<string> = []): void {
    if (!this.#close()) return;
    this.ledger.markUncertain(ids);
    if (this.assumed && this.#lease) {
      this.ledger.settle(this.assumed.state, this.#lease, undefined);
    }
  }

  /** Closes the turn. Returns false if it was closed before. */
  #close(): boolean {
    const wasOpen = !this.#isOver;
    this.#isOver = true;
    return wasOpen;
  }
}

/** The assumed state of the server at the start of a turn. */
export interface Assumed {
  readonly state: ServerState;
  readonly known: Known;
  /** Whether the server can list its items. */
  readonly canAsk: boolean;
  /** The repairs of the state itself. */
  readonly mends: readonly Mend[];
}

/**
 * Determines the server's state. The known state is used unless the prompt proves that the server
 * holds more, or contains a real output that replaces a placeholder. Otherwise the server lists its
 * items, if it can; else the state is derived from the prompt.
 */
async function assumedState(
  state: ServerState,
  items: readonly Item[],
  ledger: Ledger,
  { conversations }: Rules,
  refetch: boolean,
  { abortSignal }: CallOptions,
): Promise<Assumed> {
  const source = state.by === "conversation" ? conversations : undefined;
  const remembered = refetch ? undefined : ledger.known(state);
  const proven = ledger.proven(items, state, remembered);
  const suffices = proven === 0 && !(source && hasLateOutput(remembered?.items ?? [], items));
  if (remembered && suffices) {
    return { state, known: remembered, canAsk: source !== undefined, mends: [] };
  }
  const held = source && (await fetchHeld(source, state.id, items, abortSignal));
  const known: Known = {
    items: held?.items ?? items.slice(0, proven),
    isAll: held !== undefined,
    elsewhere: new Set(held && idsOf(items)),
  };
  ledger.learn(state, known);
  return { state, known, canAsk: source !== undefined, mends: held?.mends ?? [] };
}

interface Repaired {
  readonly items: readonly Item[];
  readonly resent: number;
  readonly mends: readonly Mend[];
}

/**
 * Repairs the items. With a server state, items that the SDK's provider does not send (see
 * `isSentWithState`) are no faults: they are neither reported nor rejected.
 */
function repairItems(
  items: readonly Item[],
  assumed: Assumed | undefined,
  rules: Rules,
  isSent: (item: Item) => boolean,
): Repaired {
  const policy = rules.policy ?? "repair";
  if (assumed === undefined) return { resent: 0, ...repair(items, { policy }) };
  const { items: held, isAll } = assumed.known;
  const verdicts = reconcile(held, items);
  const isHeld = (position: number | null) =>
    position !== null && HELD.includes(verdicts[position]?.verdict ?? "");
  const isNotSent = (position: number | null) =>
    position !== null && !isSent(items[position] as Item);
  const choices = isAll ? policy : withHiddenCalls(policy);
  if (rejectsReasoning(choices)) repair(items.filter(isSent), { held, policy: choices });
  const left = repair(items, { held, policy: withDroppedReasoning(choices) });
  const mends = left.mends.filter(({ position }) => !isHeld(position) && !isNotSent(position));
  return { items: left.items, mends, resent: items.filter((_, at) => isHeld(at)).length };
}

/**
 * Keeps outputs without a call, because the server may hold the calls if its list is incomplete.
 */
function withHiddenCalls(policy: Policy): PolicyChoices {
  if (typeof policy === "object") return { ...policy, outputs: "keep" };
  if (policy === "repair") return { outputs: "keep" };
  if (policy === "drop") return { calls: "drop", outputs: "keep" };
  return { calls: "reject", reasoning: "reject", outputs: "keep" };
}

function rejectsReasoning(policy: Policy): boolean {
  return policy === "reject" || (typeof policy === "object" && policy.reasoning === "reject");
}

/** The same choices, but drops reasoning instead of rejecting it. */
function withDroppedReasoning(policy: Policy): Policy {
  if (!rejectsReasoning(policy)) return policy;
  const choices = policy === "reject" ? REJECT : (policy as PolicyChoices);
  return { ...choices, reasoning: "drop" };
}

const REJECT: PolicyChoices = { calls: "reject", outputs: "reject" };

/** The verdicts on items that a server holds, or held until they were deleted. */
const HELD = ["resent", "deleted", "duplicate"];

/**
 * Whether a provider sends an item together with a server state. Of reasoning it sends only
 * encrypted content without an id.
 */
function isSentWithState({ type, id, encrypted_content }: Item, losesId: boolean): boolean {
  return type !== "reasoning" || ((id === undefined || losesId) && encrypted_content !== undefined);
}
