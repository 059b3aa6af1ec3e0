import { isFunctionCallPart, isFunctionResponsePart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { contextUnits } from './context-units.ts';
import type { ContextUnit } from './context-units.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { checkTrimOptions } from './trim-options.ts';
import type { TrimOptions } from './trim-options.ts';

const DEFAULT_TRIM_RATIO = 0.75;

/**
 * Trims growing conversations incrementally. It resumes at the start of a conversation's last turn and counts the tokens
 * of each message once, so the cost of a call depends on the last turn and the messages shown, not on the length of the
 * conversation.
 */
export class BudgetTrimmer {
  /** Keyed by the first message of a conversation. */
  readonly #conversations = new WeakMap<Content, TrimmedConversation>();
  readonly #costs = new WeakMap<Content, number>();

  /**
   * Returns the same contents as `trimToBudget`.
   * @throws InvalidInputError when an option is out of range
   */
  trim(contents: readonly Content[], options: TrimOptions): readonly Content[] {
    checkTrimOptions(options);
    const [first] = contents;
    if (first === undefined) return [];
    const { maxTokens, keepFirst = false, countTokens = estimateTokens } = options;
    const limits = {
      maxTokens,
      trimToTokens: options.trimToTokens ?? maxTokens * DEFAULT_TRIM_RATIO,
      keepFirst,
    };
    const before = this.#conversations.get(first);
    const known =
      before?.continues(contents, limits) === true ? before : new TrimmedConversation(limits);
    this.#conversations.set(first, known);
    return known.trim(contents, (content) => {
      const cost = this.#costs.get(content) ?? countTokens(content);
      this.#costs.set(content, cost);
      return cost;
    });
  }
}

interface Limits {
  readonly maxTokens: number;
  readonly trimToTokens: number;
  readonly keepFirst: boolean;
}

/** The start of a conversation's last turn. Nothing before it changes any more. */
interface LastTurn {
  readonly unit: number;
  /** The index of its user message; then that message, and the one before it. */
  readonly from: number;
  readonly message: Content | undefined;
  readonly previous: Content | undefined;
  readonly cut: number;
}

const NO_TURN: LastTurn = { unit: 0, from: 0, message: undefined, previous: undefined, cut: 0 };

class TrimmedConversation {
  readonly #limits: Limits;
  readonly #units: ContextUnit[] = [];
  readonly #costs: number[] = [];
  /** For each unit, the total cost of the units before it. */
  readonly #before: number[] = [0];
  /** For each unit, the first unit of its turn. Messages before the first user message count as a turn. */
  readonly #turnStarts: number[] = [];
  #start: LastTurn = NO_TURN;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** True when `contents` is this conversation, or an extension of it. */
  continues(contents: readonly Content[], limits: Limits): boolean {
    const { from, message, previous } = this.#start;
    const { maxTokens, trimToTokens, keepFirst } = this.#limits;
    if (maxTokens !== limits.maxTokens || trimToTokens !== limits.trimToTokens) return false;
    if (keepFirst !== limits.keepFirst || from === 0) return false;
    if (contents[from] !== message || contents[from - 1] !== previous) return false;
    // A result of a call before the last turn would merge units that are separate here.
    const calls = new Set<string>();
    for (const { parts } of contents.slice(from)) {
      for (const { functionCall } of parts.filter(isFunctionCallPart)) calls.add(functionCall.id);
      if (parts.some((one) => isFunctionResponsePart(one) && !calls.has(one.functionResponse.id)))
        return false;
    }
    return true;
  }

  trim(contents: readonly Content[], getCost: (content: Content) => number): readonly Content[] {
    const { unit, from } = this.#start;
    let { cut } = this.#start;
    for (const list of [this.#units, this.#costs, this.#turnStarts]) list.length = unit;
    this.#before.length = unit + 1;
    for (const relative of contextUnits(contents.slice(from))) {
      const last = this.#units.length;
      const added = { ...relative, from: relative.from + from, to: relative.to + from };
      if (added.isUser)
        this.#start = {
          unit: last,
          from: added.from,
          message: contents[added.from],
          previous: contents[added.from - 1],
          cut,
        };
      this.#add(
        added,
        contents.slice(added.from, added.to).reduce((sum, content) => sum + getCost(content), 0),
      );
      cut = this.#cutAt(cut, last);
    }
    const kept = this.#keptBefore(cut).flatMap((index) =>
      contents.slice(this.#units[index]?.from, this.#units[index]?.to),
    );
    return [...kept, ...contents.slice(this.#units[cut]?.from)];
  }

  #add(unit: ContextUnit, cost: number): void {
    const index = this.#units.length;
    this.#turnStarts.push(unit.isUser ? index : (this.#turnStarts[index - 1] ?? 0));
    this.#units.push(unit);
    this.#costs.push(cost);
    this.#before.push((this.#before[index] ?? 0) + cost);
  }

  /** The new cut for the conversation up to unit `last`, given the previous cut. */
  #cutAt(cut: number, last: number): number {
    const { maxTokens, trimToTokens } = this.#limits;
    if (this.#costFrom(cut, last) <= maxTokens) return cut;
    const turn = this.#turnStarts[last] ?? last;
    const isEnough = (at: number): boolean => this.#costFrom(at, last) <= trimToTokens;
    let next = cut;
    while (next < turn && !(next === this.#turnStarts[next] && isEnough(next))) next++;
    if (this.#costFrom(next, last) <= maxTokens) return next;
    // The current turn alone is too large: remove its oldest rounds.
    while (next < last && !isEnough(next)) next++;
    return next;
  }

  #costFrom(cut: number, last: number): number {
    return (
      (this.#before[last + 1] ?? 0) -
      (this.#before[cut] ?? 0) +
      this.#keptBefore(cut).reduce((sum, index) => sum + (this.#costs[index] ?? 0), 0)
    );
  }

  /** Units kept although they are before the cut: the user message of the turn that is cut, and with `keepFirst` the first one. */
  #keptBefore(cut: number): readonly number[] {
    const turnStart = this.#turnStarts[cut] ?? cut;
    const message = turnStart < cut && this.#units[turnStart]?.isUser === true ? [turnStart] : [];
    const first = this.#limits.keepFirst ? this.#firstUser() : -1;
    return first >= 0 && first < cut && first !== turnStart ? [first, ...message] : message;
  }

  /** Index of the first user message. Few units precede it, so a linear search is fast. */
  #firstUser(): number {
    return this.#units.findIndex(({ isUser }) => isUser);
  }
}
