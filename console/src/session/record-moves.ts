import type { JournalRecord } from '../../../src/net/journal/index.ts';

/** The tokens that a record moves, by place. */
export interface RecordMoves {
  readonly taken: ReadonlyMap<string, number>;
  readonly reset: ReadonlyMap<string, number>;
  readonly given: ReadonlyMap<string, number>;
  /** List and map places that it writes. */
  readonly written: ReadonlySet<string>;
}

/** Returns what a record takes, removes and produces. */
export function listMoves(record: JournalRecord | undefined): RecordMoves {
  const taken = new Map<string, number>();
  const reset = new Map<string, number>();
  const given = new Map<string, number>();
  const written = new Set<string>();
  if (record === undefined) return { taken, reset, given, written };
  if ('take' in record)
    for (const [place, ...ids] of record.take ?? []) add(taken, place, ids.length);
  if ('reset' in record)
    for (const [place, ...ids] of record.reset ?? []) add(reset, place, ids.length);
  if ('give' in record)
    for (const [place, , more] of record.give ?? []) add(given, place, more?.times ?? 1);
  if ('lists' in record) for (const { place } of record.lists ?? []) written.add(place);
  if ('maps' in record) for (const { place } of record.maps ?? []) written.add(place);
  if (record.kind === 'loaded') written.add(record.place);
  return { taken, reset, given, written };
}

/** The transition of a record, if it has one. */
export function transitionIn(record: JournalRecord | undefined): string | undefined {
  return record !== undefined && 't' in record ? record.t : undefined;
}

/** One line about a record: `tool.run started`. */
export function describeRecord(record: JournalRecord | undefined): string {
  if (record === undefined) return 'before the first record';
  switch (record.kind) {
    case 'injected':
      return `${[...listMoves(record).given.keys()].join(', ') || 'a token'} arrived`;
    case 'fired':
      return `${record.t} fired`;
    case 'started':
      return `${record.t} started`;
    case 'ended':
      return `${record.t} ended${record.outcome === 'ok' ? '' : `: ${record.outcome}`}`;
    case 'retrying':
      return `${record.t} failed and is tried again`;
    case 'restarted':
      return `${record.t} ${record.cause === 'crash' ? 'runs again after a crash' : 'is tried again'}, attempt ${record.attempt}`;
    case 'faulted':
      return `${record.t} faulted: ${record.error.code}`;
    case 'discarded':
      return `${record.t}: a late result was discarded`;
    case 'upgraded':
      return 'the net changed';
    case 'owned':
      return 'another process took over';
    case 'loaded':
      return `${record.place} was loaded`;
    case 'trimmed':
      return 'the records up to this one were removed';
    default:
      return record satisfies never;
  }
}

/** True for a record that a person must not miss. */
export function isTrouble(record: JournalRecord): boolean {
  if (record.kind === 'ended') return record.outcome !== 'ok' && record.outcome !== 'cancelled';
  return record.kind === 'faulted' || record.kind === 'retrying';
}

function add(counts: Map<string, number>, place: string, count: number): void {
  counts.set(place, (counts.get(place) ?? 0) + count);
}
