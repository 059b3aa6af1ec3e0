import { eventIn, state } from '../../agents/internal.ts';
import type { AppendedEvent } from '../../agents/internal.ts';
import {
  AdkEventMapper,
  getStateScope,
  InvalidInputError,
  isJsonObject,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Event, JsonObject, LogEventType } from '../../core/index.ts';
import { applyMapChange, hasName } from '../../net/internal.ts';
import type { InboxRow, SessionRow, Store } from '../../store/index.ts';
import type { GetSessionConfig } from './session.ts';
import { addSavedMetadata } from './invocation-metadata.ts';
import { StoredSession } from './stored-session.ts';

/** Reads the session of a row with the requested events. Reads no more of the log than needed. */
export async function readSession(
  store: Store,
  row: SessionRow,
  config: GetSessionConfig,
): Promise<StoredSession> {
  checkConfig(config);
  // Read the inbox before the log: an event applied in between is then in both, and is counted once.
  const waiting = (await store.inbox(row.key, 0)).flatMap(toAppendedEvents);
  const current = (await store.find(row.key)) ?? row;
  const events = await readRecentEvents(store, current, config);
  const known = new Set(events.map(({ id }) => id));
  const pending = waiting.filter(({ event }) => event === undefined || !known.has(event.id));
  const unread = pending.flatMap(({ event }) => (event === undefined ? [] : [event]));
  const entries = await readState(store, current);
  return new StoredSession({
    key: row.key,
    uid: row.uid,
    state: Object.assign({}, entries, ...pending.map(({ stateDelta }) => stateDelta)),
    events: await addSavedMetadata(store, row.uid, limitEvents([...events, ...unread], config)),
    lastUpdateTime: toAdkSeconds(current.updatedAt),
    position: current.lastSeq + unread.length,
  });
}

/** Log events before which no turn runs, or after which it waits. */
const TURN_BOUNDARIES: readonly LogEventType[] = ['user.message', 'turn.waiting', 'turn.ended'];

/** Returns the events after a log position, oldest first, without those of a turn that the position cuts. */
async function readEventsAfter(
  store: Store,
  { key, uid }: SessionRow,
  from: number,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  const mapper = new AdkEventMapper(uid);
  let isInsideTurn = from > 0;
  for await (const logEvent of store.read(key, from)) {
    // Events of a turn whose begin is not read would be others than for a reader of the whole log.
    isInsideTurn &&= !TURN_BOUNDARIES.includes(logEvent.type);
    if (isInsideTurn && logEvent.type !== 'event.appended') events.length = 0;
    else events.push(...mapper.add(logEvent));
  }
  return events;
}

/** The appended event of an inbox row that no step has applied yet. */
function toAppendedEvents({ input }: InboxRow): readonly AppendedEvent[] {
  const { place, value } = input;
  if (!hasName(eventIn, place) || !isJsonObject(value)) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by appendEvent, checked where the net takes it
  return [value as unknown as AppendedEvent];
}

async function readRecentEvents(
  store: Store,
  row: SessionRow,
  config: GetSessionConfig,
): Promise<readonly Event[]> {
  const { numRecentEvents, afterTimestamp } = config;
  if (numRecentEvents === 0) return [];
  if (numRecentEvents === undefined && afterTimestamp === undefined)
    return readEventsAfter(store, row, 0);
  // Most log events have no ADK form, so read a window from the end and widen it until it holds enough.
  for (let window = (numRecentEvents ?? 16) * 3 + 16; ; window *= 4) {
    const from = Math.max(0, row.lastSeq - window);
    const events = await readEventsAfter(store, row, from);
    const enough =
      (numRecentEvents !== undefined && events.length >= numRecentEvents) ||
      (afterTimestamp !== undefined && (events[0]?.timestamp ?? Infinity) < afterTimestamp);
    if (from === 0 || enough) return events;
  }
}

function limitEvents(
  events: readonly Event[],
  { numRecentEvents, afterTimestamp }: GetSessionConfig,
): readonly Event[] {
  const after =
    afterTimestamp === undefined
      ? events
      : events.filter(({ timestamp }) => timestamp >= afterTimestamp);
  return numRecentEvents === undefined
    ? after
    : after.slice(Math.max(0, after.length - numRecentEvents));
}

/** Computes a session's state from its newest snapshot and the records after it. Shared state is current. */
export async function readState(store: Store, { key }: SessionRow): Promise<JsonObject> {
  const found = await store.snapshot(key);
  const maps = new Map<string, JsonObject>([[state.name, readStateMap(found?.marking)]]);
  for await (const { records } of store.steps(key, found?.step ?? 0)) {
    for (const record of records) {
      if (record.kind === 'trimmed') maps.set(state.name, readStateMap(record.marking));
      if (!('maps' in record)) continue;
      for (const change of record.maps ?? [])
        if (change.place === state.name) applyMapChange(maps, change);
    }
  }
  const own = Object.entries(maps.get(state.name) ?? {}).filter(
    ([name]) => getStateScope(name) === 'session',
  );
  const { entries } = await store.shared(key);
  return { ...Object.fromEntries(own), ...entries };
}

function readStateMap(snapshot: unknown): JsonObject {
  const maps = isJsonObject(snapshot) ? snapshot['maps'] : undefined;
  const entries = isJsonObject(maps) ? maps[state.name] : undefined;
  return isJsonObject(entries) ? entries : {};
}

function checkConfig({ numRecentEvents, afterTimestamp }: GetSessionConfig): void {
  if (numRecentEvents !== undefined && (!Number.isInteger(numRecentEvents) || numRecentEvents < 0))
    throw new InvalidInputError(
      'numRecentEvents',
      `must be a whole number of 0 or more; it is ${numRecentEvents}.`,
    );
  if (afterTimestamp !== undefined && !Number.isFinite(afterTimestamp))
    throw new InvalidInputError(
      'afterTimestamp',
      `must be epoch seconds; it is ${afterTimestamp}.`,
    );
}
