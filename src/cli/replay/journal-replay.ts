import { omitUndefined } from '../../core/internal.ts';
import { applyRecord, emptyMarking } from '../../net/index.ts';
import type { Firing, JournalRecord, Marking } from '../../net/index.ts';
import type { Json } from '../../core/index.ts';
import {
  describeValues,
  toFlow,
  toOutputFlow,
  toReplayEntry,
  type FiringOutcome,
  type Flow,
  type RecordByKind,
  type ReplayEnd,
  type ReplayEntry,
  type TokenMoves,
} from './replay-entry.ts';

/** Recomputes a session's marking from its records and describes each of them. Nothing runs. */
export class JournalReplay {
  readonly #marking: Marking = emptyMarking();
  #firings = 0;

  /**
   * Applies a record, and returns the entries it completes: a firing that ended or was aborted, an
   * input, and so on. The start of a firing completes nothing.
   * @throws Error if the record does not follow from those before it: the journal is damaged
   */
  apply(record: JournalRecord): readonly ReplayEntry[] {
    // Describe first: the consumed tokens can only be read before the record removes them.
    const entries = this.#toEntries(record);
    applyRecord(this.#marking, record);
    return entries;
  }

  /** The firings that are in flight at the end of the journal. */
  inFlight(): readonly ReplayEntry[] {
    const { firings, at } = this.#marking;
    return [...firings.values()].map((firing) =>
      this.#toFiringEntry(firing, { seq: firing.id, at, outcome: 'running' }),
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
      case 'trimmed':
        return [toReplayEntry(record)];
      default:
        return record satisfies never;
    }
  }

  /** A firing that is a single record. */
  #fired(record: RecordByKind<'fired' | 'faulted'>): ReplayEntry {
    const { seq, at, t, kind, take } = record;
    return this.#count({
      type: 'firing',
      seq,
      at,
      transition: t,
      outcome: kind,
      ...omitUndefined({ reason: kind === 'faulted' ? record.error.message : undefined }),
      ...describeValues(this.#values(take)),
      take: toFlow(take),
      give: kind === 'fired' ? toOutputFlow(record) : {},
    });
  }

  #ended(record: RecordByKind<'ended'>): readonly ReplayEntry[] {
    const { seq, at, firing, outcome, reason } = record;
    const details = reason === undefined ? {} : { reason };
    return this.#endFiring(firing, { seq, at, outcome, give: toOutputFlow(record), ...details });
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

  #toFiringEntry({ t, id, startedAt, inputs, attempt }: Firing, end: FiringEnd): ReplayEntry {
    const { give = {}, ...rest } = end;
    return {
      type: 'firing',
      ...rest,
      transition: t,
      started: id,
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
