import { resolve } from 'node:path';
import { removeOrphans } from '../../runtime/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { withExistingStore } from '../loading/existing-store.ts';

/** The command that gives the space of deleted sessions back. */
export const vacuumCommand: Command = defineCommand({
  name: 'vacuum',
  operands: [],
  summary: 'Give the space of deleted sessions back, and print the size of the store',
  description: [
    'Servers can use the store meanwhile. SQLite: the data of deleted sessions is removed, and the log is emptied. PostgreSQL:',
    'VACUUM of the tables, whose space is used again. MySQL does that by itself. With --full the file or the tables are',
    'written anew, and become smaller (VACUUM, VACUUM FULL, OPTIMIZE TABLE). That locks them, so it is refused while a server',
    'or another program runs sessions of the store. --artifacts removes the artifacts of sessions that were deleted from',
    'the store more than a day ago; those of users stay.',
  ].join('\n'),
  options: {
    store: storeOption,
    full: {
      type: 'boolean',
      summary: 'Write the file or the tables anew. No server may use the store',
    },
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary: 'The folder of a FileArtifactService, to remove the artifacts of deleted sessions',
    },
  },
  run: async ({ values, cwd, stdout, clock }) => {
    const url = values.store ?? DEFAULT_STORE;
    const result = await withExistingStore(url, cwd, async (store) => {
      const removed = await removeOrphans(store, {
        clock,
        ...(values.artifacts !== undefined && {
          artifacts: new FileArtifactService({ rootDir: resolve(cwd, values.artifacts), clock }),
        }),
      });
      return { removed, ...(await store.vacuum({ full: values.full })) };
    });
    if (values.json) stdout.write(`${JSON.stringify(result)}\n`);
    else {
      const { removed, bytesBefore, bytesAfter } = result;
      const format = (count: number): string => count.toLocaleString('en');
      stdout.write(
        `${format(bytesBefore)} bytes before, ${format(bytesAfter)} after. Removed ${format(removed.artifacts)} artifacts and ${format(removed.imports)} import records of deleted sessions.\n`,
      );
    }
    return EXIT_OK;
  },
});
