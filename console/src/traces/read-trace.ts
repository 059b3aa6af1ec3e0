import type { Deposit, JournalRecord, TokenRemoval } from '../../../src/net/journal/index.ts';

/** The tokens of a model call, as its provider reported them. */
export interface SpanUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An attempt that did not end its firing: it failed, or its process died. */
export interface SpanAttempt {
  readonly record: number;
  readonly at: number;
  readonly how: 'failed' | 'repeated' | 'crashed';
  readonly reason: string | undefined;
}

/** Something that took time: the firing of an effect, or the wait for a person. */
export interface Span {
  /** The record that began it. */
  readonly record: number;
  readonly kind: 'model' | 'tool' | 'effect' | 'wait';
  /** The tool of a call, or the transition. */
  readonly name: string;
  readonly transition: string;
  readonly from: number;
  /** Undefined while it runs. */
  to: number | undefined;
  endRecord: number | undefined;
  outcome: string | undefined;
  usage: SpanUsage | undefined;
  readonly attempts: SpanAttempt[];
  readonly input: unknown;
  output: unknown;
}

/** A turn of the session: what it was asked, and everything that took time until it ended. */
export interface Invocation {
  readonly id: string;
  readonly record: number;
  readonly from: number;
  to: number | undefined;
  readonly text: string;
  stopReason: string | undefined;
  readonly spans: Span[];
}

/** Reads invocations and spans from journal records, in order. Records can be added while a session runs. */
export class Trace {
  readonly invocations: Invocation[] = [];
  last = 0;
  /** The time of the last record, in epoch milliseconds. */
  at = 0;
  readonly #byId = new Map<string, Invocation>();
  readonly #tokens = new Map<string, { readonly place: string; readonly value: unknown }>();
  readonly #firings = new Map<number, Span>();
  readonly #waits = new Map<string, Span>();

  add(record: JournalRecord): void {
    this.last = record.seq;
    this.at = record.at;
    const taken = this.#remove([
      ...('take' in record ? (record.take ?? []) : []),
      ...('reset' in record ? (record.reset ?? []) : []),
    ]);
    const given = 'give' in record ? (record.give ?? []) : [];
    const invocation = this.#findInvocation(record, [
      ...taken.map(({ value }) => value),
      ...given.map(([, value]) => value),
    ]);
    for (const { id } of taken) this.#endWait(id, record);
    this.#addTokens(record, given, invocation);
    this.#followFiring(record, taken, invocation);
    if ('aborted' in record)
      for (const firing of record.aborted ?? []) this.#end(firing, record, 'cancelled');
    if (given.some(([place]) => isNamed(place, 'turn.permit')) && record.kind !== 'injected')
      this.#endInvocation(record, taken);
  }

  #remove(removals: readonly TokenRemoval[]): readonly TakenToken[] {
    const taken: TakenToken[] = [];
    for (const [place, ...ids] of removals)
      for (const id of ids) {
        taken.push({ id, place, value: this.#tokens.get(id)?.value });
        this.#tokens.delete(id);
      }
    return taken;
  }

  #findInvocation(record: JournalRecord, values: readonly unknown[]): Invocation | undefined {
    const id = values.map(readInvocationId).find((found) => found !== undefined);
    if (id === undefined) return this.invocations.at(-1);
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const invocation: Invocation = {
      id,
      record: record.seq,
      from: record.at,
      to: undefined,
      text: values.map(readText).find((text) => text !== '') ?? '',
      stopReason: undefined,
      spans: [],
    };
    this.invocations.push(invocation);
    this.#byId.set(id, invocation);
    return invocation;
  }

  #addTokens(
    { seq, at, kind }: JournalRecord,
    given: readonly Deposit[],
    invocation: Invocation | undefined,
  ): void {
    let index = 0;
    for (const [place, value, more] of given)
      for (let times = more?.times ?? 1; times > 0; times--) {
        const id = `${seq}.${index++}`;
        this.#tokens.set(id, { place, value });
        if (!isNamed(place, 'tool.parked') || kind === 'injected') continue;
        const wait = newSpan({
          record: seq,
          kind: 'wait',
          name: readString(value, 'name') ?? place,
          transition: place,
          from: at,
          input: Reflect.get(Object(value), 'args'),
        });
        this.#waits.set(id, wait);
        invocation?.spans.push(wait);
      }
  }

  #followFiring(
    record: JournalRecord,
    taken: readonly TakenToken[],
    invocation: Invocation | undefined,
  ): void {
    switch (record.kind) {
      case 'started': {
        const kind = isNamed(record.t, 'model.call')
          ? 'model'
          : isNamed(record.t, 'tool.run')
            ? 'tool'
            : 'effect';
        const input = taken.find(({ value }) => value !== null)?.value;
        const tool = kind === 'tool' ? readString(input, 'name') : undefined;
        const span = newSpan({
          record: record.seq,
          kind,
          name: tool ?? record.t,
          transition: record.t,
          from: record.at,
          input: tool === undefined ? input : Reflect.get(Object(input), 'args'),
        });
        this.#firings.set(record.seq, span);
        invocation?.spans.push(span);
        break;
      }
      case 'retrying':
        this.#attempt(record.firing, record, 'failed', record.reason);
        break;
      case 'restarted':
        this.#attempt(
          record.firing,
          record,
          record.cause === 'crash' ? 'crashed' : 'repeated',
          undefined,
        );
        break;
      case 'ended':
        this.#finish(record.firing, record);
        break;
      case 'faulted':
        if (record.firing !== undefined) this.#end(record.firing, record, record.error.code);
        break;
      case 'injected':
      case 'fired':
      case 'discarded':
      case 'upgraded':
      case 'owned':
      case 'loaded':
      case 'trimmed':
        break;
      default:
        record satisfies never;
    }
  }

  #finish(firing: number, record: Extract<JournalRecord, { readonly kind: 'ended' }>): void {
    const span = this.#firings.get(firing);
    if (span === undefined) return;
    const values = (record.give ?? []).map(([, value]) => value);
    span.usage = values.map(readUsage).find((usage) => usage !== undefined);
    const result = values.find((value) => value !== null);
    const part = span.kind === 'tool' ? 'response' : 'content';
    span.output = Reflect.get(Object(result), part) ?? result ?? record.reason;
    const refused = readString(result, 'outcome');
    this.#end(firing, record, record.outcome === 'ok' ? (refused ?? 'ok') : record.outcome);
  }

  #attempt(
    firing: number,
    { seq, at }: JournalRecord,
    how: SpanAttempt['how'],
    reason: string | undefined,
  ): void {
    this.#firings.get(firing)?.attempts.push({ record: seq, at, how, reason });
  }

  #end(firing: number, { seq, at }: JournalRecord, outcome: string): void {
    const span = this.#firings.get(firing);
    if (span === undefined) return;
    Object.assign(span, { to: at, endRecord: seq, outcome });
    this.#firings.delete(firing);
  }

  #endWait(id: string, record: JournalRecord): void {
    const wait = this.#waits.get(id);
    if (wait === undefined) return;
    const outcome = 't' in record && isNamed(record.t, 'tool.answer') ? 'answered' : 'ended';
    Object.assign(wait, { to: record.at, endRecord: record.seq, outcome });
    this.#waits.delete(id);
  }

  #endInvocation({ at }: JournalRecord, taken: readonly TakenToken[]): void {
    const ids = taken.map(({ value }) => readInvocationId(value));
    const invocation =
      this.#byId.get(ids.find((id) => id !== undefined) ?? '') ?? this.invocations.at(-1);
    if (invocation === undefined || invocation.to !== undefined) return;
    invocation.to = at;
    invocation.stopReason = taken
      .map(({ value }) => readString(value, 'stopReason'))
      .find((reason) => reason !== undefined);
  }
}

interface TakenToken {
  readonly id: string;
  readonly place: string;
  readonly value: unknown;
}

/** The tokens that the model calls of an invocation used. */
export function sumUsage(spans: readonly Span[]): SpanUsage {
  return {
    inputTokens: spans.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0),
    outputTokens: spans.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0),
  };
}

function newSpan(
  begun: Pick<Span, 'record' | 'kind' | 'name' | 'transition' | 'from' | 'input'>,
): Span {
  return {
    ...begun,
    to: undefined,
    endRecord: undefined,
    outcome: undefined,
    usage: undefined,
    attempts: [],
    output: undefined,
  };
}

/** A name of a subnet has its path before it. */
function isNamed(name: string, last: string): boolean {
  return name === last || name.endsWith(`/${last}`);
}

function readString(value: unknown, member: string): string | undefined {
  const found: unknown = Reflect.get(Object(value), member);
  return typeof found === 'string' ? found : undefined;
}

function readInvocationId(value: unknown): string | undefined {
  return readString(value, 'invocationId');
}

function readUsage(value: unknown): SpanUsage | undefined {
  const usage: unknown = Reflect.get(Object(value), 'usage');
  if (usage === undefined) return undefined;
  const count = (member: string): number => Number(Reflect.get(Object(usage), member) ?? 0);
  return { inputTokens: count('inputTokens'), outputTokens: count('outputTokens') };
}

/** The text of a message, as its token has it. */
function readText(value: unknown): string {
  const content: unknown = Reflect.get(Object(value), 'content');
  const parts: unknown = Reflect.get(Object(content), 'parts');
  if (!Array.isArray(parts)) return '';
  return parts.map((part: unknown) => readString(part, 'text') ?? '').join(' ');
}
