import { defineCommand, type Command } from '../command/command.ts';
import { omitUndefined } from '../../core/internal.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { sessionSelectorOptions } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { archiveOption, openArchive } from '../loading/open-archive.ts';
import { printable } from '../terminal/printable.ts';
import { formatTable } from '../terminal/table.ts';

/** The command that lists archived sessions. */
export const archivedCommand: Command = defineCommand({
  name: 'archived',
  operands: [],
  summary: 'List the sessions of an archive, which petrichor import fetches back',
  description: [
    'Lists the sessions that petrichor retain or petrichor serve --retention have archived, with the time and the place of',
    'their newest copy. A session that was fetched back stays in the archive. petrichor import SESSION --archive PLACE',
    'fetches one.',
  ].join('\n'),
  options: {
    archive: archiveOption,
    user: sessionSelectorOptions.user,
    app: sessionSelectorOptions.app,
  },
  run: async (call) => {
    const { values, stdout } = call;
    const { archive: place, app, user } = values;
    if (place === undefined)
      throw new UsageError('--archive is missing: a folder or a bucket.', 'archived');
    const archive = openArchive(place, call, 'archived');
    const rows: string[][] = [];
    for await (const key of archive.list(omitUndefined({ app, user }))) {
      const [newest] = await archive.copies(key);
      if (newest === undefined) continue;
      const { uri, archivedAt } = newest;
      if (values.json) stdout.write(`${JSON.stringify({ key, archivedAt, uri })}\n`);
      const time = new Date(archivedAt).toISOString();
      rows.push([key.sessionId, key.userId, key.appName, time, uri].map(printable));
    }
    if (values.json) return EXIT_OK;
    if (rows.length === 0) stdout.write('There are no sessions in this archive.\n');
    else {
      const head = ['SESSION', 'USER', 'APP', 'ARCHIVED', 'COPY'];
      stdout.write(`${formatTable([head, ...rows]).join('\n')}\n`);
    }
    return EXIT_OK;
  },
});
