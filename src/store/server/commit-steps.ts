import type { SessionKey } from '../../core/index.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { listOwnCalls } from '../rules/pending-position.ts';
import {
  advanceEnd,
  checkConsumed,
  checkNumbering,
  isStale,
  numberAcceptedInputs,
} from '../rules/step-rules.ts';
import type { CommitResult, InputSeq, SettledStep } from '../store.ts';
import type { InputKey } from './inbox-row.ts';
import type { PackedStep } from './packed-step.ts';
import type { ServerTables } from './server-tables.ts';
import type { AcceptedStep, SessionColumns, StepWrites } from './step-writes.ts';
import { toSessionKey, type FullRow } from './session-row.ts';
import { listSharedScopes, SharedValues } from './shared-values.ts';
import { groupUsage } from './usage-groups.ts';

/** The state of a session, including the accepted steps of this commit. */
interface Head {
  readonly row: FullRow;
  readonly head: number;
  readonly lastSeq: number;
  readonly lastRecord: number;
  readonly lastInput: number;
  readonly inboxUpTo: number;
  readonly uid: string;
  readonly owner: string | null;
  readonly epoch: number;
}

/**
 * Checks steps one after the other, in the open transaction, and writes the accepted ones. Locks the scopes of shared
 * state first and the sessions then, each in a fixed order, so that commits cannot deadlock. Among several steps, those
 * whose session another client has locked are refused as `busy`; a single step fails with the lock error.
 * @throws InvalidStepError; then the caller must roll the transaction back
 */
export async function commitSteps<R, W extends R>(
  queries: W,
  tables: ServerTables<R, W>,
  packed: readonly PackedStep[],
): Promise<readonly CommitResult[]> {
  const steps = packed.map(({ step }) => step);
  const scopes = listSharedScopes(steps);
  if (scopes.length > 0) await tables.lockScopes(queries, scopes);
  const heads = new Map<string, Head>();
  const keys = steps.map(({ key }) => key);
  for (const row of await tables.lockSessions(queries, keys, steps.length > 1 ? 'skip' : 'fail'))
    heads.set(toMapKey(toSessionKey(row)), toHead(row));
  const missing = keys.filter((key) => !heads.has(toMapKey(key)));
  const existing = missing.length === 0 ? [] : await tables.listExisting(queries, missing);
  const busy = new Set(existing.map(toMapKey));
  const [usedKeys, shared] = await Promise.all([
    findUsedKeys(queries, tables, steps, heads),
    SharedValues.read(queries, tables, steps),
  ]);
  const accepted: AcceptedStep[] = [];
  const results = packed.map((one) =>
    busy.has(toMapKey(one.step.key)) ? BUSY : admitStep(one, heads, usedKeys, shared, accepted),
  );
  if (accepted.length > 0) await tables.writeSteps(queries, toStepWrites(accepted, heads));
  const { written } = shared;
  if (written.length > 0) await tables.writeShared(queries, written);
  return results;
}

const BUSY: CommitResult = { ok: false, refused: 'busy' };

/** Finds those dedupe keys of the inputs that the steps accept which their sessions have already. */
async function findUsedKeys<R, W extends R>(
  queries: W,
  tables: ServerTables<R, W>,
  steps: readonly SettledStep[],
  heads: ReadonlyMap<string, Head>,
): Promise<Set<string>> {
  const keys = steps.flatMap(({ key, accepts = [] }) => {
    const id = heads.get(toMapKey(key))?.row.id;
    return id === undefined ? [] : accepts.map((dedupeKey) => ({ id, dedupeKey }));
  });
  if (keys.length === 0) return new Set();
  const used = await tables.findInputKeys(queries, keys);
  return new Set(used.map(toInputKey));
}

function toInputKey({ id, dedupeKey }: InputKey): string {
  return `${id}\0${dedupeKey}`;
}

function admitStep(
  packed: PackedStep,
  heads: Map<string, Head>,
  usedKeys: Set<string>,
  shared: SharedValues,
  accepted: AcceptedStep[],
): CommitResult {
  const { step } = packed;
  const head = heads.get(toMapKey(step.key));
  if (head === undefined || isStale(step, head)) return { ok: false, refused: 'stale' };
  checkNumbering(step, head);
  checkConsumed(step, head.lastInput);
  const inputs = acceptInputs(step, head, usedKeys);
  if (inputs === undefined) return { ok: false, refused: 'inputs' };
  const keys = shared.findChangedKeys(step);
  if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
  shared.apply(step);
  const { lastRecord, lastSeq } = advanceEnd(step, head);
  const lastInput = inputs.at(-1) ?? head.lastInput;
  const inboxUpTo = inputs.at(-1) ?? Math.max(head.inboxUpTo, step.inboxUpTo);
  const next = { head: step.step, lastRecord, lastSeq, lastInput, inboxUpTo };
  heads.set(toMapKey(step.key), { ...head, ...next });
  for (const dedupeKey of step.accepts ?? [])
    usedKeys.add(toInputKey({ id: head.row.id, dedupeKey }));
  accepted.push({ id: head.row.id, lastRecord, lastSeq, inputs, packed });
  return inputs.length === 0 ? { ok: true } : { ok: true, inputs };
}

/** Numbers the inputs that a step accepts. Undefined when it must not accept them. */
function acceptInputs(
  step: SettledStep,
  { row: { id }, lastInput: newest, inboxUpTo }: Head,
  usedKeys: ReadonlySet<string>,
): readonly InputSeq[] | undefined {
  if (step.accepts === undefined || step.accepts.length === 0) return [];
  return numberAcceptedInputs(step, { newest, inboxUpTo }, (dedupeKey) =>
    usedKeys.has(toInputKey({ id, dedupeKey })),
  );
}

function toStepWrites(
  accepted: readonly AcceptedStep[],
  heads: ReadonlyMap<string, Head>,
): StepWrites {
  const agentByKey = (key: SessionKey): string => heads.get(toMapKey(key))?.row.agent ?? '';
  // The last of several steps of a session has its final state.
  const last = [...new Map(accepted.map((one) => [one.id, one])).values()];
  const added = new Map<FullRow['id'], number>();
  for (const { id, packed } of accepted) added.set(id, (added.get(id) ?? 0) + packed.bytes);
  const sessions = last.map((one) => ({
    ...toSessionColumns(one, heads),
    addedBytes: added.get(one.id) ?? 0,
  }));
  const changed = last.filter(
    ({ packed: { step, pending } }) => heads.get(toMapKey(step.key))?.row.pending !== pending,
  );
  const snapshots = new Map(
    accepted.flatMap(({ id, packed: { step, snapshot } }) =>
      snapshot === undefined ? [] : [[id, { id, step: step.step, marking: snapshot }] as const],
    ),
  );
  return {
    steps: accepted,
    sessions,
    blobs: accepted.flatMap(({ id, packed }) =>
      [...packed.blobs].map(([hash, text]) => ({ id, hash, text })),
    ),
    changedPending: changed.map(({ id }) => id),
    pending: changed.flatMap(({ id, packed: { step } }) =>
      listOwnCalls(step.summary.pending).map((call) => ({
        id,
        key: step.key,
        agent: agentByKey(step.key),
        call,
      })),
    ),
    usage: groupUsage(
      accepted.flatMap(({ packed: { step } }) =>
        (step.usage ?? []).map((usage) => ({ key: step.key, agent: agentByKey(step.key), usage })),
      ),
    ),
    consumed: last.flatMap(({ id, packed: { step } }) => {
      const head = heads.get(toMapKey(step.key));
      const isUnread = head !== undefined && head.row.last_input > head.row.inbox_up_to;
      if (!isUnread || head.inboxUpTo === head.row.inbox_up_to) return [];
      return [{ id, upTo: head.inboxUpTo }];
    }),
    inputKeys: accepted.flatMap(({ id, inputs, packed: { step } }) =>
      (step.accepts ?? []).map((dedupeKey, index) => ({
        id,
        dedupeKey,
        inputSeq: inputs[index] ?? 0,
      })),
    ),
    snapshots: [...snapshots.values()],
  };
}

function toSessionColumns(
  { id, lastRecord, lastSeq, packed: { step, pending } }: AcceptedStep,
  heads: ReadonlyMap<string, Head>,
): Omit<SessionColumns, 'addedBytes'> {
  const { summary } = step;
  return {
    id,
    head: step.step,
    last_seq: lastSeq,
    last_record: lastRecord,
    last_input: heads.get(toMapKey(step.key))?.lastInput ?? 0,
    inbox_up_to: heads.get(toMapKey(step.key))?.inboxUpTo ?? 0,
    status: summary.activity,
    phase: summary.status,
    in_flight: summary.inFlight,
    next_due_at: summary.nextDueAt,
    net_hash: summary.netHash,
    pending,
    updated_at: step.at,
  };
}

function toHead(row: FullRow): Head {
  return {
    row,
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
