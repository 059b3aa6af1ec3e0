import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { importSession } from '../../runtime/index.ts';
import { openStore, parseStoreUrl } from '../../store/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { printable } from '../terminal/printable.ts';

/** The command that adds a session of a journal file to a store. */
export const importCommand: Command = defineCommand({
  name: 'import',
  operands: ['FILE'],
  summary: 'Add a session of a journal file to a store, where it continues',
  description: [
    'Reads the whole file first: its checksum, and the journal as a runtime would replay it. A file that is damaged or was',
    'cut off is refused, and nothing is written. Then the session is added in one transaction, with its app, user and id. A',
    'session that the store has is not replaced. No call that has finished runs again; calls that were running are',
    'decided by their onCrash when a runtime with the agent opens the session.',
  ].join('\n'),
  options: {
    store: storeOption,
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary: 'The folder of a FileArtifactService, to save the artifacts of the file',
    },
  },
  run: async ({ values, operands: [name = ''], cwd, stdout, clock }) => {
    const url = values.store ?? DEFAULT_STORE;
    if (parseStoreUrl(url).kind === 'memory')
      throw new UsageError(
        '--store must be a SQLite file, or a PostgreSQL or MySQL database: a store in memory ends with its program.',
        'import',
      );
    const file = resolve(cwd, name);
    // A store would be created for nothing.
    await access(file);
    const store = await openStore(url);
    try {
      const artifacts =
        values.artifacts === undefined
          ? {}
          : {
              artifacts: new FileArtifactService({
                rootDir: resolve(cwd, values.artifacts),
                clock,
              }),
            };
      const imported = await importSession(file, store, artifacts);
      const { key, agent, records, events } = imported;
      const text = `Imported session "${key.sessionId}" of user ${key.userId}, app ${key.appName}: ${records} records, ${events} events. It continues with the agent ${agent}.`;
      stdout.write(values.json ? `${JSON.stringify(imported)}\n` : `${printable(text)}\n`);
    } finally {
      await store.close();
    }
    return EXIT_OK;
  },
});
