import { omitUndefined } from '../../core/internal.ts';
import { ignoreMissingSession } from '../../managed/internal.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { CreationPosition } from '../../store/index.ts';
import { readTwoWayPage } from '../auth/two-way-page.ts';
import type { IndexPage, IndexQuery, ListRange } from '../auth/two-way-page.ts';
import { invalidPageError } from '../http/invalid-page-error.ts';
import type { ServerContext } from '../routing/server-context.ts';

interface ListedSession {
  readonly cursor: string;
  readonly sessionId: string;
}

/**
 * Lists the sessions of a workspace for which `toItem` returns a value, by creation: those that clients started, and
 * those that the program made for a user with the name of the workspace.
 */
export async function listSessions<T>(
  context: ServerContext,
  workspace: string,
  query: IndexQuery,
  toItem: (session: ManagedSession) => Promise<T | undefined>,
): Promise<IndexPage<T>> {
  const { runtime } = context;
  return readTwoWayPage(
    query,
    async (range) => readSessions(context, workspace, range),
    async ({ sessionId: id }) => {
      // A session that is being deleted is listed until it is gone.
      const session = await runtime
        .getSession({ id, userId: workspace })
        .catch(ignoreMissingSession);
      return session === undefined ? undefined : toItem(session);
    },
  );
}

async function readSessions(
  context: ServerContext,
  workspace: string,
  { after, isAscending, limit }: ListRange,
): Promise<readonly ListedSession[]> {
  const position = after === undefined ? undefined : await findPosition(context, workspace, after);
  if (after !== undefined && position === undefined) throw invalidPageError();
  const rows = await context.runtime.runtime.sessions({
    user: workspace,
    order: 'created',
    direction: isAscending ? 'ascending' : 'descending',
    limit,
    ...omitUndefined({ after: position }),
  });
  return rows.map(({ key: { sessionId }, createdAt }) => ({
    cursor: `${createdAt}.${sessionId}`,
    sessionId,
  }));
}

/** The position of a cursor. A cursor of an earlier release is the id of a session. */
async function findPosition(
  { runtime: { runtime }, store }: ServerContext,
  userId: string,
  cursor: string,
): Promise<CreationPosition | undefined> {
  const { app: appName } = runtime;
  const [, at, id] = /^(\d{1,15})\.(.+)$/s.exec(cursor) ?? [];
  if (at !== undefined && id !== undefined)
    return { createdAt: Number(at), key: { appName, userId, sessionId: id } };
  return store.find({ appName, userId, sessionId: cursor });
}
