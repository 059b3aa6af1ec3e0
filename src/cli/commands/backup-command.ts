import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import { restoreBackup, writeBackup } from '../../runtime/index.ts';
import type { BackupCounts, BackupOptions } from '../../runtime/index.ts';
import { openStore, parseStoreUrl } from '../../store/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command, type CommandCall } from '../command/command.ts';
import type { TextOption } from '../command/options.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { printable } from '../terminal/printable.ts';

const artifacts: TextOption = {
  type: 'string',
  value: 'DIR',
  summary: 'The folder of a FileArtifactService, whose artifacts are copied too',
};

/** The command that copies a store to a file. */
export const backupCommand: Command = defineCommand({
  name: 'backup',
  operands: ['FILE'],
  summary: 'Copy everything of a store to a file, while servers use it',
  description: [
    'The file has all sessions, inputs, documents, shared state and usage as of one moment. Writers are not blocked. It is',
    'compressed with gzip if its name ends in .gz, and replaces an existing file when it is whole. Restore it with',
    'petrichor restore, into any kind of store. API keys are in it as hashes, secrets as they are stored.',
  ].join('\n'),
  options: { store: storeOption, artifacts },
  run: async (call) => {
    const { values, operands, cwd } = call;
    const [name = ''] = operands;
    const counts = await withExistingStore(values.store ?? DEFAULT_STORE, cwd, async (store) =>
      writeBackup(store, resolve(cwd, name), toOptions(call)),
    );
    report(call, counts, `Wrote ${name}`);
    return EXIT_OK;
  },
});

/** The command that writes a backup to an empty store. */
export const restoreCommand: Command = defineCommand({
  name: 'restore',
  operands: ['FILE'],
  summary: 'Write a backup to an empty store',
  description: [
    'Reads the whole file first: its checksum, and the journal of each session as a runtime would replay it. A file that',
    'is damaged or was cut off is refused, and nothing is written. Then everything is written in one transaction. The',
    'store may be of another kind than that of the backup. Sessions that had work continue when a runtime opens the store:',
    'calls that were running are decided by their onCrash.',
  ].join('\n'),
  options: { store: storeOption, artifacts },
  run: async (call) => {
    const { values, operands, cwd } = call;
    const [name = ''] = operands;
    const url = values.store ?? DEFAULT_STORE;
    if (parseStoreUrl(url).kind === 'memory')
      throw new UsageError(
        '--store must be a SQLite file, or a PostgreSQL or MySQL database: a store in memory ends with its program.',
        'restore',
      );
    const file = resolve(cwd, name);
    // A store would be created for nothing.
    await access(file);
    const store = await openStore(url);
    try {
      const counts = await restoreBackup(file, store, toOptions(call));
      report(call, counts, `Restored ${name}`);
    } finally {
      await store.close();
    }
    return EXIT_OK;
  },
});

type CopyCall = CommandCall<{ readonly store: TextOption; readonly artifacts: TextOption }>;

function toOptions({ values, cwd, clock }: CopyCall): BackupOptions {
  const rootDir = values.artifacts === undefined ? undefined : resolve(cwd, values.artifacts);
  const service = rootDir === undefined ? undefined : new FileArtifactService({ rootDir, clock });
  return { clock, ...omitUndefined({ artifacts: service }) };
}

function report({ values, stdout }: CopyCall, counts: BackupCounts, done: string): void {
  if (values.json) {
    stdout.write(`${JSON.stringify(counts)}\n`);
    return;
  }
  const parts = Object.entries(counts).map(
    ([name, count]) => `${Number(count).toLocaleString('en')} ${name}`,
  );
  stdout.write(`${printable(done)}: ${parts.join(', ')}.\n`);
}
