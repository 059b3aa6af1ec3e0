import { applyRecord, emptyMarking } from '../../net/index.ts';
import type { Firing, JournalRecord, Marking } from '../../net/index.ts';
import { isJsonObject, contentText } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { jsonText } from '../terminal/printable.ts';

/** How many tokens went into or out of each place, or came to a list. */
export type Flow = Readonly<Record<string, number>>;

/** How a firing went. `aborted`: another firing took it while it ran. `running`: the journal ends before it does. */
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

/** One thing a session did, as its journal tells it. */
export type ReplayEntry = {
  /** The number of the record that completes it. */
  readonly seq: number;
  /** When, epoch ms. */
  readonly at: number;
} & (
  | {
      readonly type: 'firing';
      readonly transition: string;
      readonly outcome: FiringOutcome;
      /** The record it started with, and how long it ran, for one that does not happen at once. */
      readonly started?: number;
      readonly durationMs?: number;
      readonly attempts?: number;
      readonly reason?: string;
      /** What it was about, in words. */
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
);

/** What is where when the journal ends. */
export interface ReplayEnd {
  readonly records: number;
  readonly firings: number;
  readonly tokens: Flow;
}

/** Computes a session's marking again from its records, and tells what each of them was. Nothing runs. */
export class JournalReplay {
  readonly #marking: Marking = emptyMarking();
  #firings = 0;

  /**
   * What this record tells: a firing that is complete, or one that was cut short by it, and so on; nothing for the
   * start of one.
   * @throws Error when the record does not follow from those before it: the journal is damaged.
   */
  apply(record: JournalRecord): readonly ReplayEntry[] {
    // First: what a record takes can only be read before it is gone.
    const entries = this.#toEntries(record);
    applyRecord(this.#marking, record);
    return entries;
  }

  /** The firings that the journal leaves in flight. */
  inFlight(): readonly ReplayEntry[] {
    const { firings, at } = this.#marking;
    return [...firings.values()].map((firing) =>
      this.#toFiringEntry(firing, { seq: firing.firing, at, outcome: 'running' }),
    );
  }

  end(): ReplayEnd {
    const { seq, tokens, lists } = this.#marking;
    const counts = [
      ...[...tokens].map(([place, held]) => [place, held.length] as const),
      ...[...lists].map(([place, { items }]) => [place, items.length] as const),
    ];
    return { records: seq, firings: this.#firings, tokens: Object.fromEntries(counts) };
  }

  #toEntries(record: JournalRecord): readonly ReplayEntry[] {
    switch (record.kind) {
      case 'fired':
        return [...this.#aborted(record), this.#fired(record)];
      case 'started':
        return this.#aborted(record);
      case 'ended':
        return this.#ended(record);
      case 'faulted':
        return record.firing === undefined ? [this.#fired(record)] : this.#faulted(record);
      case 'injected':
      case 'restarted':
      case 'retrying':
      case 'discarded':
      case 'owned':
      case 'upgraded':
      case 'loaded':
        return [toReplayEntry(record)];
      default:
        return record satisfies never;
    }
  }

  /** A firing that is one record. */
  #fired(record: RecordByKind<'fired' | 'faulted'>): ReplayEntry {
    const { seq, at, t, kind, take } = record;
    return this.#count({
      type: 'firing',
      seq,
      at,
      transition: t,
      outcome: kind,
      ...(kind === 'faulted' && { reason: record.error.message }),
      ...describeValues(this.#values(take)),
      take: toFlow(take),
      give: kind === 'fired' ? toOutputFlow(record) : {},
    });
  }

  #ended(record: RecordByKind<'ended'>): readonly ReplayEntry[] {
    const { seq, at, firing, outcome, reason } = record;
    const why = reason === undefined ? {} : { reason };
    return this.#endFiring(firing, { seq, at, outcome, give: toOutputFlow(record), ...why });
  }

  #faulted({ seq, at, firing, error }: RecordByKind<'faulted'>): readonly ReplayEntry[] {
    return this.#endFiring(firing ?? seq, { seq, at, outcome: 'faulted', reason: error.message });
  }

  #aborted({ seq, at, aborted = [] }: RecordByKind<'fired' | 'started'>): readonly ReplayEntry[] {
    return aborted.flatMap((firing) => this.#endFiring(firing, { seq, at, outcome: 'aborted' }));
  }

  #endFiring(seq: number, end: FiringEnd): readonly ReplayEntry[] {
    const firing = this.#marking.firings.get(seq);
    return firing === undefined ? [] : [this.#count(this.#toFiringEntry(firing, end))];
  }

  #toFiringEntry({ t, firing, startedAt, inputs, attempt }: Firing, end: FiringEnd): ReplayEntry {
    const { give = {}, ...rest } = end;
    return {
      type: 'firing',
      ...rest,
      transition: t,
      started: firing,
      durationMs: end.at - startedAt,
      attempts: attempt,
      ...describeValues([...inputs.values()].flat().map(({ value }) => value)),
      take: Object.fromEntries([...inputs].map(([place, tokens]) => [place, tokens.length])),
      give,
    };
  }

  #count(entry: ReplayEntry): ReplayEntry {
    this.#firings++;
    return entry;
  }

  #values(take: TokenMoves): readonly Json[] {
    return (take ?? []).flatMap(([place, ...ids]) => {
      const held = this.#marking.tokens.get(place) ?? [];
      return ids.flatMap((id) => held.find((token) => token.id === id)?.value ?? []);
    });
  }
}

interface FiringEnd {
  readonly seq: number;
  readonly at: number;
  readonly outcome: FiringOutcome;
  readonly reason?: string;
  readonly give?: Flow;
}

type RecordByKind<K extends JournalRecord['kind']> = Extract<JournalRecord, { readonly kind: K }>;
type TokenMoves = RecordByKind<'fired'>['take'];
type RecordOutputs = Pick<RecordByKind<'fired'>, 'give' | 'lists' | 'maps'>;
type StandaloneRecord = RecordByKind<
  'injected' | 'restarted' | 'retrying' | 'discarded' | 'owned' | 'upgraded' | 'loaded'
>;

/** A record that is no part of a firing, or not its end. */
function toReplayEntry(record: StandaloneRecord): ReplayEntry {
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
    case 'loaded':
      return { type: 'shared', seq, at, keys: Object.keys(record.entries) };
    default:
      return record satisfies never;
  }
}

function toFlow(moves: TokenMoves): Flow {
  return Object.fromEntries((moves ?? []).map(([place, ...ids]) => [place, ids.length]));
}

function toOutputFlow({ give, lists, maps }: RecordOutputs): Flow {
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
  for (const { place, set, delete: removed, increment, append } of maps ?? []) {
    const keys = [set, increment, append].flatMap((change) => Object.keys(change ?? {}));
    add(place, keys.length + (removed?.length ?? 0));
  }
  return flow;
}

/** The first token that says something to a person: a call by its name, a message by its text, an answer by its word. */
function describeValues(values: readonly Json[]): { readonly about?: string } {
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- content, as the places' schemas took it
  return contentText(content as unknown as Parameters<typeof contentText>[0]);
}
