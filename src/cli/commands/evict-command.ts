import { omitUndefined } from '../../core/internal.ts';
import type { CreationPosition, Store } from '../../store/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { findSession } from '../loading/find-session.ts';
import { UsageError } from '../command/usage-error.ts';
import { printable } from '../terminal/printable.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';

/** The command that takes a session from a hanging owner. */
export const evictCommand: Command = defineCommand({
  name: 'evict',
  operands: ['[SESSION]'],
  summary: 'Take a session, or all of them, from a process that hangs',
  description: [
    'A session of a process that died is taken over without this. evict is for a process that is alive but makes no',
    'progress: it can no longer append to the session, and the next process that looks takes the session over. Calls',
    'in flight are handled as after a crash: as `onCrash` says, a call runs again, ends with an unknown outcome, or',
    'waits for a decision. Effects of the hanging process outside, such as a request in progress, are not undone.',
    'With --owner, it takes all sessions of that process. petrichor sessions --json has the owner of each session.',
  ].join('\n'),
  options: {
    ...sessionSelectorOptions,
    owner: {
      type: 'string',
      value: 'OWNER',
      summary: 'Instead of SESSION: take every session of this owner',
    },
  },
  run: async ({ values, operands: [sessionId], cwd, stdout }) => {
    const url = values.store ?? DEFAULT_STORE;
    const { user, app, owner } = values;
    if ((sessionId === undefined) === (owner === undefined))
      throw new UsageError('Name a session, or an owner with --owner.', 'evict');
    await withExistingStore(url, cwd, async (store) => {
      if (owner !== undefined) {
        const sessions = await evictAll(store, owner, { user, app });
        const text = `${sessions} sessions were taken from ${owner}.`;
        stdout.write(
          values.json ? `${JSON.stringify({ owner, sessions })}\n` : `${printable(text)}\n`,
        );
        return;
      }
      const selector = { sessionId: sessionId ?? '', user, app };
      const { key, inFlight } = await findSession(store, url, selector, 'evict');
      const { evicted } = await store.evict(key);
      const facts = { session: sessionId, user: key.userId, app: key.appName, evicted, inFlight };
      const text =
        evicted === null
          ? `Session "${sessionId}" has no owner. Nothing was changed.`
          : `Session "${sessionId}" was taken from ${evicted}; ${inFlight} effects were in flight.`;
      stdout.write(values.json ? `${JSON.stringify(facts)}\n` : `${printable(text)}\n`);
    });
    return EXIT_OK;
  },
});

const PAGE = 1000;

/** Returns the number of sessions that the owner had. One that has another owner by now stays with it. */
async function evictAll(
  store: Store,
  owner: string,
  { user, app }: { readonly user: string | undefined; readonly app: string | undefined },
): Promise<number> {
  let count = 0;
  let after: CreationPosition | undefined;
  for (;;) {
    const rows = await store.list({
      order: 'created',
      limit: PAGE,
      after,
      ...omitUndefined({ userId: user, appName: app }),
    });
    for (const { key } of rows.filter((row) => row.owner === owner))
      if ((await store.evict(key, owner)).evicted !== null) count++;
    after = rows.at(-1);
    if (rows.length < PAGE) return count;
  }
}
