import type { SessionKey } from '../core/index.ts';
import type { SessionRow, Store } from '../store/index.ts';
import { UnknownSessionError } from './replay-command.ts';
import { DEFAULT_APP, DEFAULT_USER } from './session-options.ts';
import { UsageError } from './usage-error.ts';

/** Whose session is meant; what is not given is any. */
export interface SessionChoice {
  readonly sessionId: string;
  readonly user: string | undefined;
  readonly app: string | undefined;
}

/**
 * The one session of this id, among those of the user and the app when they are given.
 * @throws UnknownSessionError when there is none, UsageError when there are several
 */
export async function findSession(
  store: Store,
  url: string,
  { sessionId, user, app }: SessionChoice,
  command: string,
): Promise<SessionRow> {
  const filter = {
    ...(user !== undefined && { userId: user }),
    ...(app !== undefined && { appName: app }),
  };
  const rows = (await store.list(filter)).filter(({ key }) => key.sessionId === sessionId);
  const [row, another] = rows;
  const key: SessionKey = { appName: app ?? DEFAULT_APP, userId: user ?? DEFAULT_USER, sessionId };
  if (row === undefined) throw new UnknownSessionError(key, url);
  if (another === undefined) return row;
  const owners = rows.map(({ key: { appName, userId } }) => `--app ${appName} --user ${userId}`);
  throw new UsageError(
    `There are ${rows.length} sessions "${sessionId}": say which with ${owners.join(', or ')}.`,
    command,
  );
}
