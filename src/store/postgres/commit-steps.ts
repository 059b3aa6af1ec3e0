import type { Json } from '../../core/json/json.ts';
import type { SessionKey } from '../../core/identity/session-key.ts';
import { parseStateKey } from '../../core/state/state-key.ts';
import { applySharedWrites, findChangedKeys } from '../rules/apply-shared-writes.ts';
import type { Blobs } from '../encoding/blob-references.ts';
import { changesList } from '../encoding/changes-list.ts';
import { withoutNumbers } from '../encoding/numbered-items.ts';
import { checkConsumed, checkNumbering, isStale } from '../rules/step-rules.ts';
import type { CommitResult, InputSeq, SettledStep } from '../store.ts';
import type { Queries } from './database.ts';
import { packText } from './journal-rows.ts';
import { toSessionKey } from './session-rows.ts';
import type { FullRow, SessionRows } from './session-rows.ts';

/** A step as its rows hold it, made before the transaction begins. */
export interface PackedPostgresStep {
  readonly step: SettledStep;
  readonly records: string;
  readonly events: string;
  readonly lists: boolean;
  readonly snapshot: string | undefined;
  readonly pending: string | null;
  /** Long strings of all of them. */
  readonly blobs: Blobs;
}

export function packStep(step: SettledStep): PackedPostgresStep {
  const blobs: Blobs = new Map();
  const { pending } = step.summary;
  return {
    step,
    records: packText(withoutNumbers(step.records, step.at), blobs),
    events: packText(withoutNumbers(step.events, step.at), blobs),
    lists: changesList(step.records),
    snapshot: step.snapshot === undefined ? undefined : packText(step.snapshot, blobs),
    pending: pending.length === 0 ? null : JSON.stringify(pending),
    blobs,
  };
}

/** A step that was judged, with its session's number and where its journal then ends. */
interface AcceptedStep {
  readonly id: number;
  readonly lastRecord: number;
  readonly lastSeq: number;
  readonly packed: PackedPostgresStep;
}

/** How far a session is, with the steps of this commit that were accepted. */
interface Head {
  readonly id: number;
  readonly uid: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly head: number;
  readonly lastSeq: number;
  readonly lastRecord: number;
  readonly lastInput: InputSeq;
  readonly inboxUpTo: InputSeq;
}

interface SharedRow {
  readonly app: string;
  readonly user_id: string;
  readonly name: string;
  readonly value: string | null;
  readonly version: number;
}

interface SharedValue {
  readonly columns: readonly [app: string, user: string, name: string];
  readonly value: Json | undefined;
  readonly version: number;
  readonly written: boolean;
}

/**
 * Judges steps one after the other, in a transaction, and writes those that stand. Scopes of shared state are locked first
 * and sessions then, each in one order for everybody: two commits wait for each other at most one way round. Of several
 * steps those whose sessions somebody else has locked are left out as `busy`; for one alone that is an error.
 * @throws InvalidStepError, and then nothing of the transaction may be kept
 */
export async function commitSteps(
  queries: Queries,
  schema: string,
  sessions: SessionRows,
  packed: readonly PackedPostgresStep[],
): Promise<readonly CommitResult[]> {
  const steps = packed.map(({ step }) => step);
  await lockScopes(queries, schema, steps);
  const heads = new Map<string, Head>();
  const keys = steps.map(({ key }) => key);
  for (const row of await sessions.lockAll(queries, keys, steps.length > 1 ? 'skip' : 'fail'))
    heads.set(toMapKey(toSessionKey(row)), toHead(row));
  const missing = keys.filter((key) => !heads.has(toMapKey(key)));
  const busy = new Set((await sessions.listExisting(queries, missing)).map(toMapKey));
  const shared = await readShared(queries, schema, steps);
  const accepted: AcceptedStep[] = [];
  const results = packed.map((one) =>
    busy.has(toMapKey(one.step.key)) ? BUSY : admitStep(one, heads, shared, accepted),
  );
  await writeSteps(queries, schema, accepted, heads);
  await writeShared(queries, schema, shared);
  return results;
}

const BUSY: CommitResult = { ok: false, refused: 'busy' };

function admitStep(
  packed: PackedPostgresStep,
  heads: Map<string, Head>,
  shared: Map<string, SharedValue>,
  accepted: AcceptedStep[],
): CommitResult {
  const { step } = packed;
  const head = heads.get(toMapKey(step.key));
  if (head === undefined || isStale(step, head)) return { ok: false, refused: 'stale' };
  checkNumbering(step, head);
  checkConsumed(step, head.lastInput);
  const at = (key: string): SharedValue =>
    shared.get(toSharedColumns(step.key, key).join('\0')) ?? {
      columns: toSharedColumns(step.key, key),
      value: undefined,
      version: 0,
      written: false,
    };
  const keys = findChangedKeys(step.shared?.reads ?? {}, (key) => at(key).version);
  if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
  if (step.shared !== undefined) {
    for (const [key, value] of applySharedWrites(step.shared.writes, (name) => at(name).value)) {
      const { columns, version } = at(key);
      shared.set(columns.join('\0'), { columns, value, version: version + 1, written: true });
    }
  }
  const lastRecord = head.lastRecord + step.records.length;
  const lastSeq = head.lastSeq + step.events.length;
  const inboxUpTo = Math.max(head.inboxUpTo, step.inboxUpTo);
  heads.set(toMapKey(step.key), { ...head, head: step.step, lastRecord, lastSeq, inboxUpTo });
  accepted.push({ id: head.id, lastRecord, lastSeq, packed });
  return { ok: true };
}

async function lockScopes(
  queries: Queries,
  schema: string,
  steps: readonly SettledStep[],
): Promise<void> {
  const scopes = new Set(
    steps.flatMap((step) =>
      listSharedKeys(step).map((key) => JSON.stringify(toSharedColumns(step.key, key).slice(0, 2))),
    ),
  );
  if (scopes.size === 0) return;
  await queries.rows(
    `SELECT pg_advisory_xact_lock(hashtext($1), scope) FROM (
       SELECT DISTINCT hashtext(name) AS scope FROM unnest($2::text[]) AS name ORDER BY scope) AS scopes`,
    [schema, [...scopes]],
  );
}

async function readShared(
  queries: Queries,
  schema: string,
  steps: readonly SettledStep[],
): Promise<Map<string, SharedValue>> {
  const columns = new Map(
    steps.flatMap((step) =>
      listSharedKeys(step).map((key) => {
        const one = toSharedColumns(step.key, key);
        return [one.join('\0'), one] as const;
      }),
    ),
  );
  if (columns.size === 0) return new Map();
  const all = [...columns.values()];
  const rows = await queries.rows<SharedRow>(
    `SELECT app, user_id, name, value, version FROM ${schema}.shared_state
     WHERE (app, user_id, name) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    [0, 1, 2].map((index) => all.map((one) => one[index])),
  );
  return new Map(
    rows.map(({ app, user_id: user, name, value, version }) => {
      const one = [app, user, name] as const;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a commit
      const parsed = value === null ? undefined : (JSON.parse(value) as Json);
      return [one.join('\0'), { columns: one, value: parsed, version, written: false }];
    }),
  );
}

async function writeSteps(
  queries: Queries,
  s: string,
  accepted: readonly AcceptedStep[],
  heads: ReadonlyMap<string, Head>,
): Promise<void> {
  if (accepted.length === 0) return;
  const column = <T>(value: (one: AcceptedStep) => T): readonly T[] => accepted.map(value);
  await queries.rows(
    `INSERT INTO ${s}.steps (session, step, at, last_record, last_event, lists, records, events)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[],
       $7::text[], $8::text[])`,
    [
      column(({ id }) => id),
      column(({ packed }) => packed.step.step),
      column(({ packed }) => packed.step.at),
      column(({ lastRecord }) => lastRecord),
      column(({ lastSeq }) => lastSeq),
      column(({ packed }) => packed.lists),
      column(({ packed }) => packed.records),
      column(({ packed }) => packed.events),
    ],
  );
  await writeBlobs(queries, s, accepted);
  // Of several steps of a session the last one says how it stands.
  const last = [...new Map(accepted.map((one) => [one.id, one])).values()];
  await updateSessionRows(queries, s, last, heads);
  const consuming = last.flatMap(({ id, packed }) => {
    const upTo = heads.get(toMapKey(packed.step.key))?.inboxUpTo ?? 0;
    return upTo === 0 ? [] : [{ id, upTo }];
  });
  if (consuming.length > 0) {
    await queries.rows(
      `DELETE FROM ${s}.inbox AS i USING unnest($1::bigint[], $2::bigint[]) AS u (session, up_to)
       WHERE i.session = u.session AND i.input <= u.up_to`,
      [consuming.map(({ id }) => id), consuming.map(({ upTo }) => upTo)],
    );
  }
  const snapshots = new Map(
    accepted.flatMap(({ id, packed: { step, snapshot } }) =>
      snapshot === undefined ? [] : [[id, { step: step.step, snapshot }] as const],
    ),
  );
  if (snapshots.size > 0) {
    const values = [...snapshots.values()];
    await queries.rows(
      `INSERT INTO ${s}.snapshots (session, step, marking)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])
       ON CONFLICT (session) DO UPDATE SET step = excluded.step, marking = excluded.marking`,
      [
        [...snapshots.keys()],
        values.map(({ step }) => step),
        values.map(({ snapshot }) => snapshot),
      ],
    );
  }
}

async function updateSessionRows(
  queries: Queries,
  s: string,
  last: readonly AcceptedStep[],
  heads: ReadonlyMap<string, Head>,
): Promise<void> {
  const column = <T>(value: (step: SettledStep, one: AcceptedStep) => T): readonly T[] =>
    last.map((one) => value(one.packed.step, one));
  await queries.rows(
    `UPDATE ${s}.sessions AS s SET head = u.head, last_seq = u.last_seq, last_record = u.last_record,
       inbox_up_to = u.inbox_up_to, status = u.status, phase = u.phase, in_flight = u.in_flight,
       next_due_at = u.next_due_at, net_hash = u.net_hash, pending = u.pending, updated_at = u.updated_at
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
       $8::integer[], $9::bigint[], $10::text[], $11::text[], $12::bigint[])
       AS u (id, head, last_seq, last_record, inbox_up_to, status, phase, in_flight, next_due_at, net_hash, pending,
         updated_at)
     WHERE s.id = u.id`,
    [
      column((_, { id }) => id),
      column(({ step }) => step),
      column((_, { lastSeq }) => lastSeq),
      column((_, { lastRecord }) => lastRecord),
      column(({ key }) => heads.get(toMapKey(key))?.inboxUpTo ?? 0),
      column(({ summary }) => summary.status),
      column(({ summary }) => summary.phase ?? null),
      column(({ summary }) => summary.inFlight),
      column(({ summary }) => summary.nextDueAt),
      column(({ summary }) => summary.netHash),
      column((_, { packed }) => packed.pending),
      column(({ at }) => at),
    ],
  );
}

async function writeBlobs(
  queries: Queries,
  s: string,
  accepted: readonly AcceptedStep[],
): Promise<void> {
  const blobs = accepted.flatMap(({ id, packed }) =>
    [...packed.blobs].map(([hash, text]) => ({ id, hash, text })),
  );
  for (const { id, hash, text } of blobs) {
    // One by one: together they could be more than a message may hold.
    await queries.rows(
      `INSERT INTO ${s}.blobs (session, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [id, hash, Buffer.from(text, 'utf8')],
    );
  }
}

async function writeShared(
  queries: Queries,
  s: string,
  shared: ReadonlyMap<string, SharedValue>,
): Promise<void> {
  const written = [...shared.values()].filter((one) => one.written);
  if (written.length === 0) return;
  await queries.rows(
    `INSERT INTO ${s}.shared_state (app, user_id, name, value, version)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     ON CONFLICT (app, user_id, name) DO UPDATE SET value = excluded.value, version = excluded.version`,
    [
      ...[0, 1, 2].map((index) => written.map(({ columns }) => columns[index])),
      written.map(({ value }) => (value === undefined ? null : JSON.stringify(value))),
      written.map(({ version }) => version),
    ],
  );
}

function listSharedKeys({ shared }: SettledStep): readonly string[] {
  if (shared === undefined) return [];
  const { set, increment, append, delete: removed = [] } = shared.writes;
  return [
    ...[shared.reads, set, increment, append].flatMap((part) => Object.keys(part ?? {})),
    ...removed,
  ];
}

/** The app's own state stands under no user. */
function toSharedColumns(
  { appName, userId }: SessionKey,
  key: string,
): readonly [app: string, user: string, name: string] {
  const { scope, name } = parseStateKey(key);
  return [appName, scope === 'app' ? '' : userId, name];
}

function toHead(row: FullRow): Head {
  return {
    id: row.id,
    uid: row.uid,
    owner: row.owner,
    epoch: row.epoch,
    head: row.head,
    lastSeq: row.last_seq,
    lastRecord: row.last_record,
    lastInput: row.last_input,
    inboxUpTo: row.inbox_up_to,
  };
}

function toMapKey({ appName, userId, sessionId }: SessionKey): string {
  return `${appName}\0${userId}\0${sessionId}`;
}
