import { defineCommand, type Command } from '../command/command.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { findSession } from '../loading/find-session.ts';
import { printable } from '../terminal/printable.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';

/** The command that takes a session from a hanging owner. */
export const evictCommand: Command = defineCommand({
  name: 'evict',
  operands: ['SESSION'],
  summary: 'Take a session from a process that hangs',
  description: [
    'A session of a process that died is taken over without this. evict is for a process that is alive but makes no',
    'progress: it can no longer append to the session, and the next process that looks takes the session over. Calls',
    'in flight are handled as after a crash: as `onCrash` says, a call runs again, ends with an unknown outcome, or',
    'waits for a decision. Effects of the hanging process outside, such as a request in progress, are not undone.',
  ].join('\n'),
  options: sessionSelectorOptions,
  run: async ({ values, operands: [sessionId = ''], cwd, stdout }) => {
    const url = values.store ?? DEFAULT_STORE;
    const { user, app } = values;
    await withExistingStore(url, cwd, async (store) => {
      const { key, inFlight } = await findSession(store, url, { sessionId, user, app }, 'evict');
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
