import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import { importSession } from '../../runtime/index.ts';
import type { SessionArchive } from '../../runtime/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { openStore, parseStoreUrl } from '../../store/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { archiveOption, openArchive } from '../loading/open-archive.ts';
import { printable } from '../terminal/printable.ts';

/** The command that adds a session of a journal file to a store. */
export const importCommand: Command = defineCommand({
  name: 'import',
  operands: ['FILE'],
  summary: 'Add a session of a journal file to a store, where it continues',
  description: [
    'With --archive, FILE is the id of a session, whose newest copy is fetched from there: see petrichor archived.',
    'Reads the whole file first: its checksum, and the journal as a runtime would replay it. A file that is damaged or was',
    'cut off is refused, and nothing is written. Then the session is added in one transaction, with its app, user and id. A',
    'session that the store has is not replaced. No call that has finished runs again; calls that were running are',
    'decided by their onCrash when a runtime with the agent opens the session.',
  ].join('\n'),
  options: {
    ...sessionSelectorOptions,
    archive: archiveOption,
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary: 'The folder of a FileArtifactService, to save the artifacts of the file',
    },
  },
  run: async (call) => {
    const {
      values,
      operands: [name = ''],
      cwd,
      stdout,
      clock,
    } = call;
    const url = values.store ?? DEFAULT_STORE;
    if (parseStoreUrl(url).kind === 'memory')
      throw new UsageError(
        '--store must be a SQLite file, or a PostgreSQL or MySQL database: a store in memory ends with its program.',
        'import',
      );
    const { archive: place, user, app } = values;
    if (place === undefined && (user !== undefined || app !== undefined))
      throw new UsageError('--user and --app need --archive: a file has its session.', 'import');
    const archive = place === undefined ? undefined : openArchive(place, call, 'import');
    const archived = archive && (await findArchived(archive, { session: name, user, app }));
    const file = resolve(cwd, name);
    // A store would be created for nothing.
    if (archive === undefined) await access(file);
    const store = await openStore(url);
    try {
      const options = {
        clock,
        ...(values.artifacts !== undefined && {
          artifacts: new FileArtifactService({ rootDir: resolve(cwd, values.artifacts), clock }),
        }),
      };
      const imported =
        archive === undefined || archived === undefined
          ? await importSession(file, store, options)
          : await archive.restore(archived, store, options);
      const { key, agent, records, events, artifacts: count } = imported;
      const leftOut =
        count === 0 || values.artifacts !== undefined
          ? ''
          : ` Versions of artifacts that were left out: ${count}. To save them, delete the session, and import it again with --artifacts DIR.`;
      const text = `Imported session "${key.sessionId}" of user ${key.userId}, app ${key.appName}: ${records} records, ${events} events. It continues with the agent ${agent}.${leftOut}`;
      stdout.write(values.json ? `${JSON.stringify(imported)}\n` : `${printable(text)}\n`);
    } finally {
      await store.close();
    }
    return EXIT_OK;
  },
});

/** The archived session with this id, of the user and the app if they are given. @throws UsageError unless there is one */
async function findArchived(
  archive: SessionArchive,
  selection: {
    readonly session: string;
    readonly user: string | undefined;
    readonly app: string | undefined;
  },
): Promise<SessionKey> {
  const { session } = selection;
  const found: SessionKey[] = [];
  for await (const key of archive.list(omitUndefined(selection))) found.push(key);
  const [key, another] = found;
  if (key === undefined)
    throw new UsageError(
      `The archive has no session "${session}". petrichor archived lists those that it has.`,
      'import',
    );
  if (another === undefined) return key;
  const owners = found.map(({ appName, userId }) => `--app ${appName} --user ${userId}`);
  throw new UsageError(
    `The archive has ${found.length} sessions "${session}". Choose one with ${owners.join(', or ')}.`,
    'import',
  );
}
