import * as v from 'valibot';
import { checkLogEvent } from '../../core/events/check-log-event.ts';
import { isSessionStatus } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { Json, JsonObject, SessionStatus } from '../../core/index.ts';
import { parseRecords } from '../../net/journal/index.ts';
import type { StoreItem } from '../../store/index.ts';

/** The last time that a date can be, in epoch ms. */
const LAST_TIME = 8.64e15;

function timeWithin(last: number): v.GenericSchema<unknown, number> {
  return v.pipe(
    v.number(),
    v.check(
      (at) => Math.abs(at) <= last,
      ({ received }) => `must be a time in ms; it is ${received}`,
    ),
  );
}

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** Epoch ms of a date. Lists of sessions show it as one. */
const time = timeWithin(LAST_TIME);
/** A timer can be due after the last date. */
const dueTime = timeWithin(Number.MAX_SAFE_INTEGER);
/** What this program makes itself: every database stores it, and no name that is made of it becomes too long. */
const identifier = v.pipe(text, v.regex(/^[!-~]{1,200}$/, 'must be an id'));
const json = v.custom<Json>((value) => value !== undefined, 'must be a JSON value');
const key = v.strictObject({ appName: text, userId: text, sessionId: text });

const pendingCall = v.strictObject({
  callId: text,
  name: text,
  args: json,
  needs: v.picklist(['approval', 'result']),
  invocationId: text,
  fingerprint: text,
  since: time,
  expiresAt: v.exactOptional(time),
  reason: v.exactOptional(v.picklist(['policy', 'crash'])),
  request: v.exactOptional(json),
  resumes: v.exactOptional(v.literal(true)),
  asks: v.exactOptional(count),
  session: v.exactOptional(text),
  path: v.exactOptional(v.array(text)),
  via: v.exactOptional(text),
});

const session = v.strictObject({
  type: v.literal('session'),
  key,
  uid: identifier,
  agent: text,
  netHash: v.pipe(text, v.regex(/^[!-~]{0,200}$/, 'must be a hash')),
  head: count,
  lastSeq: count,
  status: v.custom<SessionStatus>(isSessionStatus, 'must be a status of sessions'),
  activity: v.picklist(['idle', 'running', 'waiting']),
  inFlight: count,
  nextDueAt: v.nullable(dueTime),
  pending: v.array(pendingCall),
  failures: count,
  createdAt: time,
  inboxUpTo: count,
});

const input = v.strictObject({
  type: v.literal('input'),
  inputSeq: positive,
  dedupeKey: text,
  input: v.exactOptional(v.strictObject({ place: text, value: json })),
});

const snapshot = v.strictObject({ type: v.literal('snapshot'), step: positive, marking: json });

const step = v.strictObject({
  type: v.literal('step'),
  step: positive,
  at: time,
  records: v.array(v.looseObject({ at: time })),
  events: v.array(v.looseObject({ seq: positive, at: time, type: text })),
});

const document = v.strictObject({
  type: v.literal('document'),
  kind: text,
  id: text,
  version: positive,
  value: json,
});

const shared = v.strictObject({
  type: v.literal('shared'),
  appName: text,
  userId: text,
  name: text,
  version: positive,
  value: v.exactOptional(json),
});

const tombstone = v.strictObject({ type: v.literal('tombstone'), key, uid: text });

const usage = v.strictObject({
  type: v.literal('usage'),
  appName: text,
  userId: text,
  agent: text,
  day: text,
  model: text,
  calls: count,
  tokens: v.record(text, v.number()),
});

const SCHEMAS: Readonly<Record<StoreItem['type'], v.GenericSchema<unknown, object>>> = {
  session,
  input,
  snapshot,
  step,
  document,
  shared,
  tombstone,
  usage,
};

/** True for a line that is an item of a store. */
export function isItemType(type: unknown): type is StoreItem['type'] {
  return typeof type === 'string' && Object.hasOwn(SCHEMAS, type);
}

/** @throws InvalidInputError with the path of the first wrong value */
export function parseItem(type: StoreItem['type'], value: JsonObject): StoreItem {
  const item = parseJsonWithSchema(SCHEMAS[type], value, type);
  if (type === 'step' && 'records' in item && 'events' in item) {
    const { events } = item;
    for (const [index, event] of Array.isArray(events) ? events.entries() : [])
      checkLogEvent(event, `step.events[${index}]`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema
    return { ...item, records: parseRecords(item.records) } as unknown as StoreItem;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema
  return item as unknown as StoreItem;
}
