import { answerIn, userIn, interruptIn } from '../../agents/internal.ts';
import type { Json, Seq, SessionKey } from '../../core/index.ts';
import { tokensIn } from '../../net/index.ts';
import { hasName } from '../../net/internal.ts';
import type { AnyPlace, RecordSeq } from '../../net/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { hydrate } from './hydrate.ts';

/** An accepted input that may have no log event yet. */
export interface AcceptedInput {
  readonly place: string;
  readonly value: Json;
  /** The journal record that took the input from the inbox. Undefined while it is in the inbox. */
  readonly record: RecordSeq | undefined;
}

/**
 * Lists the inputs that wait in the inbox or in the net, in the order they were accepted. An input that is consumed
 * meanwhile is in the log when this resolves. So a caller that reads the log afterwards sees each input at least once.
 */
export async function listAcceptedInputs(
  store: Store,
  { key }: Pick<SessionRow, 'key'>,
  places: readonly AnyPlace[] = [],
): Promise<readonly AcceptedInput[]> {
  // The inbox first: an input that is taken meanwhile is then in the marking.
  const inbox = await store.inbox(key, 0);
  const row = await store.find(key);
  const inputPlaces: readonly AnyPlace[] = [userIn, interruptIn, answerIn, ...places];
  const toCurrent = (name: string): string =>
    inputPlaces.find((place) => hasName(place, name))?.name ?? name;
  const waiting = inbox.map(({ input }) => ({
    ...input,
    place: toCurrent(input.place),
    record: undefined,
  }));
  // The net of an idle session holds no inputs back.
  if (row === undefined || row.status === 'idle' || row.status === 'queued') return waiting;
  const marking = await hydrate(store, key);
  const taken = inputPlaces.flatMap((place) =>
    [...place.formerNames, place.name]
      .flatMap((name) => tokensIn(marking, name))
      .map(({ id, value }): AcceptedInput => ({
        place: place.name,
        value,
        record: Number.parseInt(id, 10),
      })),
  );
  return [...taken.toSorted((a, b) => (a.record ?? 0) - (b.record ?? 0)), ...waiting];
}

/** Finds the number of the last log event before a journal record. */
export async function lastSeqBefore(
  store: Store,
  key: SessionKey,
  record: RecordSeq,
): Promise<Seq> {
  let last: Seq = 0;
  for await (const { records, events } of store.steps(key, 0)) {
    if ((records.at(-1)?.seq ?? 0) >= record) return last;
    last = events.at(-1)?.seq ?? last;
  }
  return last;
}
