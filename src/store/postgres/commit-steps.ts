import type { SessionKey } from '../../core/index.ts';
import type { Blobs } from '../encoding/blob-references.ts';
import { changesList } from '../encoding/changes-list.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { withoutNumbers } from '../encoding/numbered-items.ts';
import { checkConsumed, checkNumbering, isStale } from '../rules/step-rules.ts';
import type { CommitResult, InputSeq, SettledStep } from '../store.ts';
import type { Queries } from './database.ts';
import { packText } from './journal-rows.ts';
import { replacePendingCalls } from './pending-call-rows.ts';
import { toSessionKey } from './session-rows.ts';
import type { FullRow, SessionRows } from './session-rows.ts';
import { SharedRows } from './shared-rows.ts';
import { addUsage } from './usage-rows.ts';

/** The packed columns of a step, built before the transaction begins. */
export interface PackedPostgresStep {
  readonly step: SettledStep;
  readonly records: string;
  readonly events: string;
  readonly lists: boolean;
  readonly snapshot: string | undefined;
  readonly pending: string | null;
  /** The long strings of all columns. */
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

/** An accepted step, with the id of its session and the end of the journal after it. */
interface AcceptedStep {
  readonly id: number;
  readonly lastRecord: number;
  readonly lastSeq: number;
  readonly packed: PackedPostgresStep;
}

/** The state of a session, including the accepted steps of this commit. */
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
  readonly agent: string;
  /** The pending calls before this commit, as they are stored. */
  readonly pending: string | null;
}

/**
 * Checks steps one after the other, in the open transaction, and writes the accepted ones. Locks the scopes of shared
 * state first and the sessions then, each in a fixed order, so that commits cannot deadlock. Among several steps, those
 * whose session another client has locked are refused as `busy`; a single step fails with the lock error.
 * @throws InvalidStepError; then the caller must roll the transaction back
 */
export async function commitSteps(
  queries: Queries,
  schema: string,
  sessions: SessionRows,
  packed: readonly PackedPostgresStep[],
): Promise<readonly CommitResult[]> {
  const steps = packed.map(({ step }) => step);
  await SharedRows.lock(queries, schema, steps);
  const heads = new Map<string, Head>();
  const keys = steps.map(({ key }) => key);
  for (const row of await sessions.lockAll(queries, keys, steps.length > 1 ? 'skip' : 'fail'))
    heads.set(toMapKey(toSessionKey(row)), toHead(row));
  const missing = keys.filter((key) => !heads.has(toMapKey(key)));
  const busy = new Set((await sessions.listExisting(queries, missing)).map(toMapKey));
  const shared = await SharedRows.read(queries, schema, steps);
  const accepted: AcceptedStep[] = [];
  const results = packed.map((one) =>
    busy.has(toMapKey(one.step.key)) ? BUSY : admitStep(one, heads, shared, accepted),
  );
  await writeSteps(queries, schema, accepted, heads);
  await shared.flush();
  return results;
}

const BUSY: CommitResult = { ok: false, refused: 'busy' };

function admitStep(
  packed: PackedPostgresStep,
  heads: Map<string, Head>,
  shared: SharedRows,
  accepted: AcceptedStep[],
): CommitResult {
  const { step } = packed;
  const head = heads.get(toMapKey(step.key));
  if (head === undefined || isStale(step, head)) return { ok: false, refused: 'stale' };
  checkNumbering(step, head);
  checkConsumed(step, head.lastInput);
  const keys = shared.findChangedKeys(step);
  if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
  shared.apply(step);
  const lastRecord = head.lastRecord + step.records.length;
  const lastSeq = head.lastSeq + step.events.length;
  const inboxUpTo = Math.max(head.inboxUpTo, step.inboxUpTo);
  heads.set(toMapKey(step.key), { ...head, head: step.step, lastRecord, lastSeq, inboxUpTo });
  accepted.push({ id: head.id, lastRecord, lastSeq, packed });
  return { ok: true };
}

async function writeSteps(
  queries: Queries,
  schema: string,
  accepted: readonly AcceptedStep[],
  heads: ReadonlyMap<string, Head>,
): Promise<void> {
  if (accepted.length === 0) return;
  const column = <T>(value: (one: AcceptedStep) => T): readonly T[] => accepted.map(value);
  await queries.rows(
    `INSERT INTO ${schema}.steps (session, step, at, last_record, last_event, lists, records, events)
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
  await writeBlobs(queries, schema, accepted);
  // The last of several steps of a session has its final state.
  const last = [...new Map(accepted.map((one) => [one.id, one])).values()];
  await updateSessionRows(queries, schema, last, heads);
  const agentByKey = (key: SessionKey): string => heads.get(toMapKey(key))?.agent ?? '';
  await replacePendingCalls(
    queries,
    schema,
    last.flatMap(({ id, packed: { step, pending } }) =>
      heads.get(toMapKey(step.key))?.pending === pending
        ? []
        : [{ id, key: step.key, agent: agentByKey(step.key), calls: step.summary.pending }],
    ),
  );
  await addUsage(
    queries,
    schema,
    accepted.flatMap(({ packed: { step } }) =>
      (step.usage ?? []).map((usage) => ({ key: step.key, agent: agentByKey(step.key), usage })),
    ),
  );
  const consuming = last.flatMap(({ id, packed }) => {
    const upTo = heads.get(toMapKey(packed.step.key))?.inboxUpTo ?? 0;
    return upTo === 0 ? [] : [{ id, upTo }];
  });
  if (consuming.length > 0) {
    await queries.rows(
      `DELETE FROM ${schema}.inbox AS i USING unnest($1::bigint[], $2::bigint[]) AS u (session, up_to)
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
      `INSERT INTO ${schema}.snapshots (session, step, marking)
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
  schema: string,
  last: readonly AcceptedStep[],
  heads: ReadonlyMap<string, Head>,
): Promise<void> {
  const column = <T>(value: (step: SettledStep, one: AcceptedStep) => T): readonly T[] =>
    last.map((one) => value(one.packed.step, one));
  await queries.rows(
    `UPDATE ${schema}.sessions AS s SET head = u.head, last_seq = u.last_seq, last_record = u.last_record,
       inbox_up_to = u.inbox_up_to, status = u.status, phase = u.phase, in_flight = u.in_flight,
       next_due_at = u.next_due_at, net_hash = u.net_hash, pending = u.pending, updated_at = u.updated_at,
       changed = pg_current_xact_id()
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
      column(({ summary }) => summary.activity),
      column(({ summary }) => summary.status),
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
  schema: string,
  accepted: readonly AcceptedStep[],
): Promise<void> {
  const blobs = accepted.flatMap(({ id, packed }) =>
    [...packed.blobs].map(([hash, text]) => ({ id, hash, text })),
  );
  for (const { id, hash, text } of blobs) {
    // One by one, because together they might exceed the size limit of a message.
    await queries.rows(
      `INSERT INTO ${schema}.blobs (session, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [id, hash, Buffer.from(text, 'utf8')],
    );
  }
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
    agent: row.agent,
    pending: row.pending,
  };
}
