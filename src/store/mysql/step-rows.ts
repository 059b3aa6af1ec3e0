import type { BlobRow, StepWrites } from '../server/step-writes.ts';
import { toCallKey } from '../rules/call-key.ts';
import type { TableNames } from './schema.ts';
import { markChanged } from './session-rows.ts';
import { tuples, type Transaction } from './statement.ts';
import { addUsage } from './usage-rows.ts';

/** Long strings are stored in parts of so many bytes, because a message of 16 MB is the least that a server takes. */
const MAX_PART_BYTES = 4 * 1024 * 1024;

/** Queues the writes of accepted steps. */
export function writeSteps(
  queries: Transaction,
  t: TableNames,
  {
    steps,
    sessions,
    blobs,
    changedPending,
    pending,
    usage,
    consumed,
    inputKeys,
    snapshots,
  }: StepWrites,
): void {
  for (const { id, lastRecord, lastSeq, packed } of steps)
    queries.add(
      `INSERT INTO ${t('steps')} (session, step, at, last_record, last_event, lists, records, events)
       VALUES ${tuples(1, 8)}`,
      [
        id,
        packed.step.step,
        packed.step.at,
        lastRecord,
        lastSeq,
        packed.lists,
        packed.records,
        packed.events,
      ],
    );
  for (const blob of blobs) addBlob(queries, t, blob);
  for (const { id, addedBytes, ...columns } of sessions)
    queries.add(
      `UPDATE ${t('sessions')} SET ${Object.keys(columns)
        .map((name) => `${name} = ?`)
        .join(', ')}, bytes = bytes + ? WHERE id = ?`,
      [...Object.values(columns), addedBytes, id],
    );
  markChanged(
    queries,
    t,
    sessions.map(({ id }) => id),
  );
  if (changedPending.length > 0)
    queries.add(`DELETE FROM ${t('pending_calls')} WHERE session IN (?)`, [changedPending]);
  for (const { id, key, agent, call } of pending)
    queries.add(
      `INSERT INTO ${t('pending_calls')} (session, call_key, app, since, user_id, agent, tool, needs)
       VALUES ${tuples(1, 8)} ON DUPLICATE KEY UPDATE session = session`,
      [
        id,
        toCallKey(call.callId),
        key.appName,
        call.since,
        key.userId,
        agent,
        call.name,
        call.needs,
      ],
    );
  addUsage(queries, t, usage);
  for (const { id, upTo } of consumed)
    queries.add(`DELETE FROM ${t('inbox')} WHERE session = ? AND input <= ?`, [id, upTo]);
  if (inputKeys.length > 0)
    queries.add(
      `INSERT INTO ${t('input_keys')} (session, dedupe_key, input) VALUES ${tuples(inputKeys.length, 3)}`,
      inputKeys.flatMap(({ id, dedupeKey, inputSeq }) => [id, dedupeKey, inputSeq]),
    );
  for (const { id, step, marking } of snapshots)
    queries.add(`REPLACE INTO ${t('snapshots')} (session, step, marking) VALUES (?, ?, ?)`, [
      id,
      step,
      marking,
    ]);
}

/** Queues the parts of a long string. */
export function addBlob(queries: Transaction, t: TableNames, { id, hash, text }: BlobRow): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let part = 0; part * MAX_PART_BYTES < bytes.length; part++)
    queries.add(
      `INSERT INTO ${t('blobs')} (session, hash, part, bytes) VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE part = part`,
      [id, hash, part, bytes.subarray(part * MAX_PART_BYTES, (part + 1) * MAX_PART_BYTES)],
    );
}
