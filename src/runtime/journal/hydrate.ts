import type { Json, SessionKey } from '../../core/index.ts';
import {
  applyRecord,
  emptyMarking,
  fromSnapshot,
  oldestListRecord,
  toSnapshot,
} from '../../net/index.ts';
import { renameMarking, renameRecord } from '../../net/internal.ts';
import type { NamedNet } from '../../net/internal.ts';
import type { CompiledNet, JournalRecord, Marking, RecordSeq, Snapshot } from '../../net/index.ts';
import type { StepNumber, Store } from '../../store/index.ts';

/**
 * Restores the marking of a session from its newest snapshot and the journal records after it, with the names that were
 * stored.
 */
export async function hydrate(store: Store, key: SessionKey): Promise<Marking> {
  return fromNewestSnapshot(store, key, async (found) => replayAfter(store, key, found));
}

type StoredSnapshot = Awaited<ReturnType<Store['snapshot']>>;

/** Restores from the newest snapshot. A trim removes records that an earlier snapshot needs, and writes a later one. */
async function fromNewestSnapshot<T>(
  store: Store,
  key: SessionKey,
  to: (found: StoredSnapshot) => Promise<T>,
): Promise<T> {
  for (;;) {
    const found = await store.snapshot(key);
    try {
      return await to(found);
    } catch (error) {
      if ((await store.snapshot(key))?.step === found?.step) throw error;
    }
  }
}

async function replayAfter(store: Store, key: SessionKey, found: StoredSnapshot): Promise<Marking> {
  const marking =
    found === undefined ? emptyMarking() : await restore(store, key, asSnapshot(found.marking));
  for await (const { records } of store.steps(key, found?.step ?? 0)) {
    for (const record of records) applyRecord(marking, record);
  }
  return marking;
}

/** Restores the marking of a session with the current names of a net. */
export async function hydrateFor(
  store: Store,
  key: SessionKey,
  net: CompiledNet,
): Promise<Marking> {
  const marking = await hydrate(store, key);
  renameMarking(marking, net);
  return marking;
}

/**
 * Restores the marking just before the first record for which `stop` is true, with the current names of a net. Undefined
 * when there is no such record.
 */
export async function markingBefore(
  store: Store,
  key: SessionKey,
  net: CompiledNet,
  stop: (record: JournalRecord, marking: Marking) => boolean,
): Promise<Marking | undefined> {
  const marking = emptyMarking();
  for await (const { records } of store.steps(key, 0)) {
    for (const stored of records) {
      const record = renameRecord(stored, marking, net);
      if (stop(record, marking)) return marking;
      applyRecord(marking, record);
    }
  }
  return undefined;
}

/**
 * Restores the stored snapshot with its step, with the current names of a net. Undefined when there is none, or when it
 * is after `upTo`.
 */
export async function restoreSnapshot(
  store: Store,
  key: SessionKey,
  upTo: RecordSeq,
  net: NamedNet,
): Promise<{ readonly step: StepNumber; readonly marking: Marking } | undefined> {
  return fromNewestSnapshot(store, key, async (found) => {
    const snapshot = found === undefined ? undefined : asSnapshot(found.marking);
    if (found === undefined || snapshot === undefined || snapshot.seq > upTo) return undefined;
    const marking = await restore(store, key, snapshot);
    renameMarking(marking, net);
    return { step: found.step, marking };
  });
}

async function restore(store: Store, key: SessionKey, snapshot: Snapshot): Promise<Marking> {
  const from = oldestListRecord(snapshot);
  const records: JournalRecord[] = [];
  if (from !== undefined) {
    for await (const step of store.listSteps(key, from))
      records.push(...step.records.filter((record) => record.seq >= from));
  }
  return fromSnapshot(snapshot, records);
}

/** Converts a marking to the JSON that the store keeps. */
export function toStoredSnapshot(marking: Marking): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a snapshot is JSON throughout; TypeScript cannot see it for interfaces
  return toSnapshot(marking) as unknown as Json;
}

/** Reads the JSON that the store keeps as a snapshot. It is checked when a marking is restored from it. */
export function asSnapshot(marking: Json): Snapshot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by toStoredSnapshot; fromSnapshot refuses other formats
  return marking as unknown as Snapshot;
}
