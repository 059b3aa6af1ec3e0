import * as v from 'valibot';
import { InvalidInputError } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { parseJsonWithSchema } from '../../../core/validation/parse-with-schema.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import { findCallerSession } from '../caller-session.ts';
import { readTasks } from './read-tasks.ts';
import type { TaskCaller } from './task-operations.ts';
import type { TaskView } from './task-view.ts';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
/** How many sessions one request reads at most for a page. A page may be short, and has a token for the next. */
const MAX_SESSIONS = 200;
/** How many sessions are read to count all tasks. */
const MAX_COUNTED_SESSIONS = 1000;

/** Which tasks are listed. Numbers may be text, as in a query string. */
export interface ListTasksQuery {
  readonly contextId?: string | undefined;
  readonly status?: string | undefined;
  readonly pageSize?: number | string | undefined;
  readonly pageToken?: string | undefined;
  readonly historyLength?: number | string | undefined;
  readonly statusTimestampAfter?: string | undefined;
  readonly includeArtifacts?: boolean | string | undefined;
}

/** Where the next page begins: after how many tasks of which page of sessions. */
interface PagePosition {
  readonly after?: string | undefined;
  readonly skip: number;
  /** How many tasks there were at the first page. */
  readonly total: number;
}

const pagePosition: v.GenericSchema<unknown, PagePosition> = v.object({
  after: v.optional(nonEmptyText(2048)),
  skip: v.pipe(v.number(), v.integer(), v.minValue(0)),
  total: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/**
 * Lists the tasks of an agent: those of the newest session first, and in each session the newest first.
 * `totalSize` is the number of tasks that fit, counted at the first page, in at most 1,000 sessions.
 * @throws InvalidInputError for an invalid page size, token, length or time
 */
export async function listTasks(
  context: ServerContext,
  caller: TaskCaller,
  query: ListTasksQuery,
): Promise<JsonObject> {
  const pageSize = parseInteger(query.pageSize, 'pageSize', { min: 1, max: MAX_PAGE_SIZE });
  const historyLength = parseInteger(query.historyLength, 'historyLength', {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  });
  const limit = pageSize ?? DEFAULT_PAGE_SIZE;
  const fits = toFilter(query);
  const includeArtifacts = query.includeArtifacts === true || query.includeArtifacts === 'true';
  const parsed = parseToken(query.pageToken);
  const total = parsed?.total ?? (await countTasks(context, caller, query, fits));
  let position: PagePosition = parsed ?? { skip: 0, total };
  const found: TaskView[] = [];
  let next: PagePosition | undefined;
  for (let read = 0; read < MAX_SESSIONS; read++) {
    const page = await readSessions(context, caller, query, {
      after: position.after,
      limit: 1,
    });
    for (const session of page.data) {
      const tasks = (await readTasks(context, session))
        .toReversed()
        .filter(({ view }) => fits(view));
      const rest = tasks.slice(position.skip).map(({ view }) => view);
      const taken = rest.slice(0, limit - found.length);
      found.push(...taken);
      if (taken.length < rest.length) next = { ...position, skip: position.skip + taken.length };
    }
    if (next !== undefined) break;
    if (page.next === undefined) break;
    position = { after: page.next, skip: 0, total };
    if (found.length === limit || read === MAX_SESSIONS - 1) {
      next = position;
      break;
    }
  }
  return {
    tasks: found.map((view) => view.toTask({ historyLength, includeArtifacts })),
    nextPageToken: next === undefined ? '' : formatToken(next),
    pageSize: limit,
    totalSize: total,
  };
}

/** The sessions that may have tasks of a query: the newest first, or the only one. */
async function readSessions(
  context: ServerContext,
  { caller, agentId }: TaskCaller,
  { contextId }: ListTasksQuery,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<{ readonly data: readonly ManagedSession[]; readonly next?: string | undefined }> {
  if (contextId === undefined)
    return context.runtime.listSessions({
      agentId,
      userId: caller.workspace,
      includeArchived: true,
      limit,
      ...omitUndefined({ after }),
    });
  const session = await findCallerSession(context, caller, contextId);
  return { data: session?.agentId === agentId ? [session] : [] };
}

async function countTasks(
  context: ServerContext,
  caller: TaskCaller,
  query: ListTasksQuery,
  fits: (view: TaskView) => boolean,
): Promise<number> {
  let total = 0;
  let read = 0;
  let after: string | undefined;
  do {
    caller.signal.throwIfAborted();
    const page = await readSessions(context, caller, query, { after, limit: 100 });
    for (const session of page.data)
      total += (await readTasks(context, session)).filter(({ view }) => fits(view)).length;
    read += page.data.length;
    after = page.next;
  } while (after !== undefined && read < MAX_COUNTED_SESSIONS);
  return total;
}

function toFilter({ status, statusTimestampAfter }: ListTasksQuery): (view: TaskView) => boolean {
  const since = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
  if (Number.isNaN(since))
    throw new InvalidInputError(
      'statusTimestampAfter',
      'must be a time such as 2026-01-31T10:00:00Z.',
    );
  const isAny = status === undefined || status === '' || status === 'TASK_STATE_UNSPECIFIED';
  return ({ state, timestamp }) =>
    (isAny || state === status) &&
    (since === undefined || (timestamp !== undefined && Date.parse(timestamp) >= since));
}

function parseInteger(
  value: number | string | undefined,
  field: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (value === undefined || value === '') return undefined;
  const parsed = Number(value);
  if (Number.isInteger(parsed) && parsed >= min && parsed <= max) return parsed;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new InvalidInputError(field, `must be an integer ${range}.`);
}

function formatToken(position: PagePosition): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function parseToken(token: string | undefined): PagePosition | undefined {
  if (token === undefined || token === '') return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    return parseJsonWithSchema(pagePosition, value, 'pageToken');
  } catch (cause) {
    throw new InvalidInputError('pageToken', 'must be the nextPageToken of a page.', { cause });
  }
}
