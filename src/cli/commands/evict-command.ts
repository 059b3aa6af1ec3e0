import { defineCommand, type Command } from '../command/command.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { findSession } from '../loading/find-session.ts';
import { printable } from '../terminal/printable.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';

/** The command that takes a session from an owner that hangs. */
export const evictCommand: Command = defineCommand({
  name: 'evict',
  operands: ['SESSION'],
  summary: 'Take a session from a process that lives and hangs',
  description: [
    'A session of a process that died is taken over without this. evict is for one that lives and does not go on: from',
    'now on it can append nothing to the session, and the next process that looks takes it. What was in flight is',
    'judged as after a crash: it runs again, is told to the model as unknown, or is asked about, as `onCrash` says.',
    'What the hung process still does outside, such as a request under way, is not undone.',
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
          ? `Session "${sessionId}" has no owner: nothing was changed.`
          : `Session "${sessionId}" was taken from ${evicted}; ${inFlight} effects were in flight.`;
      stdout.write(values.json ? `${JSON.stringify(facts)}\n` : `${printable(text)}\n`);
    });
    return EXIT_OK;
  },
});
