import type { AcceptedStep, SessionColumns, StepWrites } from '../server/step-writes.ts';
import type { WriteQueries } from './queries.ts';
import { replacePendingCalls } from './pending-call-rows.ts';
import { addUsage } from './usage-rows.ts';

/** Sends the writes of the accepted steps of a commit. */
export function writeSteps(
  queries: WriteQueries,
  schema: string,
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
  const column = <T>(value: (one: AcceptedStep) => T): readonly T[] => steps.map(value);
  queries.add(
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
  for (const { id, hash, text } of blobs) {
    // One by one, because together they might exceed the size limit of a message.
    queries.add(
      `INSERT INTO ${schema}.blobs (session, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [id, hash, Buffer.from(text, 'utf8')],
    );
  }
  updateSessionRows(queries, schema, sessions);
  replacePendingCalls(queries, schema, changedPending, pending);
  addUsage(queries, schema, usage);
  if (consumed.length > 0) {
    queries.add(
      `DELETE FROM ${schema}.inbox AS i USING unnest($1::bigint[], $2::bigint[]) AS u (session, up_to)
       WHERE i.session = u.session AND i.input <= u.up_to`,
      [consumed.map(({ id }) => id), consumed.map(({ upTo }) => upTo)],
    );
  }
  if (inputKeys.length > 0) {
    queries.add(
      `INSERT INTO ${schema}.input_keys (session, key, input)
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])`,
      [
        inputKeys.map(({ id }) => id),
        inputKeys.map(({ dedupeKey }) => dedupeKey),
        inputKeys.map(({ inputSeq }) => inputSeq),
      ],
    );
  }
  if (snapshots.length > 0) {
    queries.add(
      `INSERT INTO ${schema}.snapshots (session, step, marking)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])
       ON CONFLICT (session) DO UPDATE SET step = excluded.step, marking = excluded.marking`,
      [
        snapshots.map(({ id }) => id),
        snapshots.map(({ step }) => step),
        snapshots.map(({ marking }) => marking),
      ],
    );
  }
}

function updateSessionRows(
  queries: WriteQueries,
  schema: string,
  sessions: readonly SessionColumns[],
): void {
  const column = <K extends keyof SessionColumns>(name: K): readonly SessionColumns[K][] =>
    sessions.map((one) => one[name]);
  queries.add(
    `UPDATE ${schema}.sessions AS s SET head = u.head, last_seq = u.last_seq, last_record = u.last_record,
       last_input = u.last_input, inbox_up_to = u.inbox_up_to, status = u.status, phase = u.phase, in_flight = u.in_flight,
       next_due_at = u.next_due_at, net_hash = u.net_hash, pending = u.pending, updated_at = u.updated_at,
       bytes = s.bytes + u.bytes, changed = pg_current_xact_id()
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
       $8::text[], $9::integer[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::bigint[])
       AS u (id, head, last_seq, last_record, last_input, inbox_up_to, status, phase, in_flight, next_due_at, net_hash,
         pending, updated_at, bytes)
     WHERE s.id = u.id`,
    [
      column('id'),
      column('head'),
      column('last_seq'),
      column('last_record'),
      column('last_input'),
      column('inbox_up_to'),
      column('status'),
      column('phase'),
      column('in_flight'),
      column('next_due_at'),
      column('net_hash'),
      column('pending'),
      column('updated_at'),
      column('addedBytes'),
    ],
  );
}
