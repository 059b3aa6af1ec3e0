import { omitUndefined } from '../../core/internal.ts';
import { toUsageItem } from '../copies/usage-item.ts';
import { toSessionStatus } from '../rules/row-status.ts';
import { USAGE_DIMENSIONS } from '../rules/usage-rules.ts';
import type { ExportSelection, InputItem, SessionItem, StoreItem } from '../store-item.ts';
import { toInboxRow } from './inbox-row.ts';
import type { JournalReader } from './journal-reader.ts';
import { parseStoredJson } from './parse-stored-json.ts';
import { getSession, type ServerTables } from './server-tables.ts';
import { parsePendingCalls, toSessionKey, type FullRow } from './session-row.ts';

const SESSIONS_PER_PAGE = 100;
const KEYS_PER_PAGE = 1000;
const DOCUMENTS_PER_PAGE = 100;

/** What items are read from. `queries` sees one moment. */
export interface ItemSource<R, W extends R> {
  readonly queries: R;
  readonly tables: ServerTables<R, W>;
  readonly journal: JournalReader<R>;
}

/** Reads everything, or one session. @throws SessionNotFoundError, StoreCorruptError */
export async function* exportItems<R, W extends R>(
  source: ItemSource<R, W>,
  { session }: ExportSelection,
): AsyncGenerator<StoreItem, void, undefined> {
  const { queries, tables } = source;
  if (session !== undefined) {
    const { appName, userId, sessionId: parent } = session;
    yield* exportSession(source, await getSession(tables, queries, session));
    const children = await tables.listSessions(queries, { appName, userId, parent }, undefined);
    for (const child of children) yield* exportSession(source, child);
    return;
  }
  for (let after = 0; ;) {
    const page = await tables.listSessionPage(queries, after, SESSIONS_PER_PAGE);
    for (const row of page) yield* exportSession(source, row);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  yield* exportDocuments(source);
  for (const { app, user_id: userId, name, value, version } of await tables.listSharedRows(
    queries,
  )) {
    const shared = { type: 'shared', appName: app, userId, name, version } as const;
    yield value === null ? shared : { ...shared, value: parseStoredJson(value) };
  }
  for (const one of await tables.listTombstones(queries)) yield { type: 'tombstone', ...one };
  for (const appName of await tables.listUsageApps(queries))
    for (const total of await tables.readUsage(queries, { appName, by: USAGE_DIMENSIONS }))
      yield toUsageItem(appName, total);
}

async function* exportSession<R, W extends R>(
  { queries, tables, journal }: ItemSource<R, W>,
  row: FullRow,
): AsyncGenerator<StoreItem, void, undefined> {
  const key = toSessionKey(row);
  yield toSessionItem(row);
  yield* exportInputs(queries, tables, row);
  const snapshot = await journal.snapshot(queries, key, row.id);
  if (snapshot !== undefined) yield { type: 'snapshot', ...snapshot };
  for (let after = 0; after < row.head;) {
    const { items = [] } = (await journal.steps(queries, key, after)) ?? {};
    for (const step of items) yield { type: 'step', ...step };
    after = items.at(-1)?.step ?? row.head;
  }
}

function toSessionItem(row: FullRow): SessionItem {
  return {
    type: 'session',
    key: toSessionKey(row),
    uid: row.uid,
    agent: row.agent,
    netHash: row.net_hash,
    head: row.head,
    lastSeq: row.last_seq,
    activity: row.status,
    status: toSessionStatus({ lastSeq: row.last_seq, activity: row.status, status: row.phase }),
    inFlight: row.in_flight,
    nextDueAt: row.next_due_at,
    pending: parsePendingCalls(row),
    failures: row.failures,
    createdAt: row.created_at,
    inboxUpTo: row.inbox_up_to,
  };
}

async function* exportInputs<R, W extends R>(
  queries: R,
  tables: ServerTables<R, W>,
  { id, inbox_up_to: inboxUpTo }: FullRow,
): AsyncGenerator<InputItem, void, undefined> {
  const unread = new Map(
    (await tables.readInbox(queries, id, inboxUpTo))
      .map(toInboxRow)
      .map(({ inputSeq, input }) => [inputSeq, input] as const),
  );
  for (let after = 0; ;) {
    const page = await tables.listInputKeys(queries, id, after, KEYS_PER_PAGE);
    for (const one of page) {
      const input = unread.get(one.inputSeq);
      yield { type: 'input', ...one, ...omitUndefined({ input }) };
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.inputSeq;
  }
}

async function* exportDocuments<R, W extends R>({
  queries,
  tables,
}: ItemSource<R, W>): AsyncGenerator<StoreItem, void, undefined> {
  for (const kind of await tables.listDocumentKinds(queries))
    for (let after: string | undefined; ;) {
      const query = { kind, limit: DOCUMENTS_PER_PAGE, ...omitUndefined({ after }) };
      const page = await tables.listDocuments(queries, query);
      for (const document of page) yield { type: 'document', ...document };
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
}
