import { defineCommand, type Command } from '../command/command.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { findSession } from '../loading/find-session.ts';
import { printable } from '../terminal/printable.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';

/** The command that releases a quarantined session. */
export const unquarantineCommand: Command = defineCommand({
  name: 'unquarantine',
  operands: ['SESSION'],
  summary: 'Release a quarantined session, so that it is opened again',
  description: [
    'A session that could not be opened three times in a row is quarantined: no process opens it, and messages to it',
    'are rejected. When the cause is fixed (a missing model, tool or agent), unquarantine releases it. The next process',
    'that looks opens it again; after three more failures it is quarantined again.',
  ].join('\n'),
  options: sessionSelectorOptions,
  run: async ({ values, operands: [sessionId = ''], cwd, stdout }) => {
    const url = values.store ?? DEFAULT_STORE;
    const { user, app } = values;
    await withExistingStore(url, cwd, async (store) => {
      const choice = { sessionId, user, app };
      const { key, status } = await findSession(store, url, choice, 'unquarantine');
      await store.recordHydration(key, true);
      const after = (await store.find(key))?.status;
      const facts = { session: sessionId, user: key.userId, app: key.appName, status: after };
      const text =
        status === 'quarantined'
          ? `Session "${sessionId}" is released; it is ${after} and will be opened again.`
          : `Session "${sessionId}" is ${status}, not quarantined. Nothing was changed.`;
      stdout.write(values.json ? `${JSON.stringify(facts)}\n` : `${printable(text)}\n`);
    });
    return EXIT_OK;
  },
});
