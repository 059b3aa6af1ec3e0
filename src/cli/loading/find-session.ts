import { omitUndefined } from '../../core/internal.ts';
import { PetrichorError } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { describeStoreUrl } from '../../store/internal.ts';
import { UsageError } from '../command/usage-error.ts';

/** Selects a session. A user or app that is undefined matches any. */
export interface SessionSelector {
  readonly sessionId: string;
  readonly user: string | undefined;
  readonly app: string | undefined;
}

/**
 * There is no session with this id, user and app in the store.
 * @remedy List the sessions with `petrichor sessions`, and correct the id, `--user` or `--app`.
 */
export class UnknownSessionError extends PetrichorError {
  override readonly code = 'session_not_found' as const;

  constructor({ sessionId, user, app }: SessionSelector, store: string) {
    const conditions = [
      ...(user === undefined ? [] : [`user "${user}"`]),
      ...(app === undefined ? [] : [`app "${app}"`]),
    ].join(' and ');
    super(
      `There is no session "${sessionId}"${conditions === '' ? '' : ` of ${conditions}`} in ${describeStoreUrl(store)}. ` +
        '`petrichor sessions` lists the sessions.',
    );
  }
}

/**
 * Finds the session with this id, among those of the user and the app if they are given.
 * @throws UnknownSessionError if there is none
 * @throws UsageError if there are several
 */
export async function findSession(
  store: Store,
  url: string,
  { sessionId, user, app }: SessionSelector,
  command: string,
): Promise<SessionRow> {
  const filter = omitUndefined({ userId: user, appName: app });
  const rows = (await store.list(filter)).filter(({ key }) => key.sessionId === sessionId);
  const [row, another] = rows;
  if (row === undefined) throw new UnknownSessionError({ sessionId, user, app }, url);
  if (another === undefined) return row;
  const owners = rows.map(({ key: { appName, userId } }) => `--app ${appName} --user ${userId}`);
  throw new UsageError(
    `There are ${rows.length} sessions "${sessionId}". Choose one with ${owners.join(', or ')}.`,
    command,
  );
}
