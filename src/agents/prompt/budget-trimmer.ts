import { isFunctionCallPart, isFunctionResponsePart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { contextUnits } from './context-units.ts';
import type { ContextUnit } from './context-units.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { checkTrimOptions } from './trim-options.ts';
import type { TrimOptions } from './trim-options.ts';

const DEFAULT_TRIM_RATIO = 0.75;

/**
 * Trims conversations that grow. It goes on where the last turn of a conversation began, and counts each message once:
 * a call costs what the last turn and the messages that are shown cost, however long the conversation is.
 */
export class BudgetTrimmer {
  /** By the first message of a conversation. */
  readonly #conversations = new WeakMap<Content, TrimmedConversation>();
  readonly #costs = new WeakMap<Content, number>();

  /** What `trimToBudget` gives. @throws InvalidInputError when an option is out of its range */
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

/** Where the last turn of a conversation begins: nothing before it changes any more. */
interface LastTurn {
  readonly unit: number;
  /** The index of its message, the message, and the one before it. */
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
  /** The cost of the units before each. */
  readonly #before: number[] = [0];
  /** For each unit, the one its turn began with. What stands before the first message of a user is a turn too. */
  readonly #turnStarts: number[] = [];
  #start: LastTurn = NO_TURN;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** True when `contents` is this conversation, or one that it grew to. */
  continues(contents: readonly Content[], limits: Limits): boolean {
    const { from, message, previous } = this.#start;
    const { maxTokens, trimToTokens, keepFirst } = this.#limits;
    if (maxTokens !== limits.maxTokens || trimToTokens !== limits.trimToTokens) return false;
    if (keepFirst !== limits.keepFirst || from === 0) return false;
    if (contents[from] !== message || contents[from - 1] !== previous) return false;
    // A result of an earlier call would join what is apart.
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
    for (const own of contextUnits(contents.slice(from))) {
      const last = this.#units.length;
      const added = { ...own, from: own.from + from, to: own.to + from };
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

  /** Where the conversation up to unit `last` is cut, that was cut at `cut`. */
  #cutAt(cut: number, last: number): number {
    const { maxTokens, trimToTokens } = this.#limits;
    if (this.#costFrom(cut, last) <= maxTokens) return cut;
    const turn = this.#turnStarts[last] ?? last;
    const isEnough = (at: number): boolean => this.#costFrom(at, last) <= trimToTokens;
    let next = cut;
    while (next < turn && !(next === this.#turnStarts[next] && isEnough(next))) next++;
    if (this.#costFrom(next, last) <= maxTokens) return next;
    // The turn that goes on is too large by itself: its rounds go.
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

  /** What stays although it lies before the cut: the message of the turn that is cut, and the first of all. */
  #keptBefore(cut: number): readonly number[] {
    const turnStart = this.#turnStarts[cut] ?? cut;
    const message = turnStart < cut && this.#units[turnStart]?.isUser === true ? [turnStart] : [];
    const first = this.#limits.keepFirst ? this.#firstUser() : -1;
    return first >= 0 && first < cut && first !== turnStart ? [first, ...message] : message;
  }

  /** What stands before the first message of a user is few: the search ends soon. */
  #firstUser(): number {
    return this.#units.findIndex(({ isUser }) => isUser);
  }
}
