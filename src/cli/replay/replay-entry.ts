import { listWrittenKeys } from '../../core/internal.ts';
import type { JournalRecord } from '../../net/index.ts';
import { isJsonObject, contentText } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { jsonText } from '../terminal/printable.ts';

/** The number of tokens consumed from or produced in each place, or items added to a list. */
export type Flow = Readonly<Record<string, number>>;

/**
 * How a firing ended. `aborted`: another firing interrupted it. `running`: the journal ends before
 * it does.
 */
export type FiringOutcome =
  | 'fired'
  | 'ok'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  | 'unknown'
  | 'aborted'
  | 'faulted'
  | 'running';

/** One event of a session's journal. */
export type ReplayEntry = {
  /** The number of the record that completes it. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
} & (
  | {
      readonly type: 'firing';
      readonly transition: string;
      readonly outcome: FiringOutcome;
      /** The record with which it started and its duration, unless it is a single record. */
      readonly started?: number;
      readonly durationMs?: number;
      readonly attempts?: number;
      readonly reason?: string;
      /** A short description of what it was about. */
      readonly about?: string;
      readonly take: Flow;
      readonly give: Flow;
    }
  | { readonly type: 'input'; readonly give: Flow; readonly key?: string; readonly about?: string }
  | {
      readonly type: 'attempt';
      readonly transition: string;
      readonly started: number;
      readonly attempt: number;
      readonly cause: string;
    }
  | {
      readonly type: 'retry';
      readonly transition: string;
      readonly started: number;
      readonly dueAt: number;
      readonly reason: string;
    }
  | { readonly type: 'late'; readonly transition: string; readonly started: number }
  | { readonly type: 'owner'; readonly owner: string; readonly epoch: number }
  | { readonly type: 'upgrade'; readonly from: string; readonly to: string }
  | { readonly type: 'shared'; readonly keys: readonly string[] }
  /** Earlier records were removed. The tokens and list items that the journal begins with. */
  | { readonly type: 'base'; readonly tokens: Flow }
);

/** The marking at the end of a journal. */
export interface ReplayEnd {
  readonly records: number;
  readonly firings: number;
  readonly tokens: Flow;
}

export type RecordByKind<K extends JournalRecord['kind']> = Extract<
  JournalRecord,
  { readonly kind: K }
>;

export type TokenMoves = RecordByKind<'fired'>['take'];

type RecordOutputs = Pick<RecordByKind<'fired'>, 'give' | 'lists' | 'maps'>;

type StandaloneRecord = RecordByKind<
  'injected' | 'restarted' | 'retrying' | 'discarded' | 'owned' | 'upgraded' | 'loaded' | 'trimmed'
>;

/** The entry of a record that is not part of a firing, or not its end. */
export function toReplayEntry(record: StandaloneRecord): ReplayEntry {
  const { seq, at } = record;
  switch (record.kind) {
    case 'injected': {
      const about = describeValues(record.give.map(([, value]) => value));
      const key = record.key === undefined ? {} : { key: record.key };
      return { type: 'input', seq, at, ...key, ...about, give: toOutputFlow(record) };
    }
    case 'restarted': {
      const { t: transition, firing: started, attempt, cause } = record;
      return { type: 'attempt', seq, at, transition, started, attempt, cause };
    }
    case 'retrying': {
      const { t: transition, firing: started, dueAt, reason } = record;
      return { type: 'retry', seq, at, transition, started, dueAt, reason };
    }
    case 'discarded':
      return { type: 'late', seq, at, transition: record.t, started: record.firing };
    case 'owned':
      return { type: 'owner', seq, at, owner: record.owner, epoch: record.epoch };
    case 'upgraded':
      return { type: 'upgrade', seq, at, from: record.from, to: record.to.hash };
    case 'trimmed':
      return { type: 'base', seq, at, tokens: countTokens(record.marking) };
    case 'loaded':
      return { type: 'shared', seq, at, keys: Object.keys(record.entries) };
    default:
      return record satisfies never;
  }
}

function countTokens({ tokens, lists }: RecordByKind<'trimmed'>['marking']): Flow {
  return Object.fromEntries([
    ...Object.entries(tokens).map(([place, held]) => [place, held.length] as const),
    ...Object.entries(lists).map(([place, { items }]) => [place, items.length] as const),
  ]);
}

export function toFlow(moves: TokenMoves): Flow {
  return Object.fromEntries((moves ?? []).map(([place, ...ids]) => [place, ids.length]));
}

export function toOutputFlow({ give, lists, maps }: RecordOutputs): Flow {
  const flow: Record<string, number> = {};
  const add = (place: string, count: number): void => {
    if (count !== 0) flow[place] = (flow[place] ?? 0) + count;
  };
  for (const [place, , more] of give ?? []) add(place, more?.times ?? 1);
  for (const change of lists ?? []) {
    if ('append' in change) add(change.place, change.append.length);
    else if ('dropLast' in change) add(change.place, -change.dropLast);
    else add(change.place, change.prefix.length);
  }
  for (const change of maps ?? []) add(change.place, listWrittenKeys(change).length);
  return flow;
}

/**
 * Describes the first token that means something to a person: a call by its name, a message by its
 * text, an answer by its decision.
 */
export function describeValues(values: readonly Json[]): { readonly about?: string } {
  for (const value of values) {
    if (!isJsonObject(value)) continue;
    const { name, args, content, decision } = value;
    if (typeof decision === 'string') return { about: decision };
    if (typeof name === 'string')
      return { about: args === undefined ? name : `${name} ${jsonText(args)}` };
    const text = readText(content);
    if (text !== '') return { about: `“${text}”` };
  }
  return {};
}

function readText(content: Json | undefined): string {
  if (content === undefined || !isJsonObject(content) || !Array.isArray(content['parts']))
    return '';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the places' schemas validated it as content
  return contentText(content as unknown as Parameters<typeof contentText>[0]);
}
