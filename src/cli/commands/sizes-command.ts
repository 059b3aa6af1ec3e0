import { resolve } from 'node:path';
import { measureSessions } from '../../runtime/index.ts';
import type { SessionSize } from '../../runtime/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { printable } from '../terminal/printable.ts';
import { formatTable } from '../terminal/table.ts';

const DEFAULT_LIMIT = 50;

/** The command that lists the sessions by size. */
export const sizesCommand: Command = defineCommand({
  name: 'sizes',
  operands: [],
  summary: 'List the sessions of a store by size, the largest first',
  description: [
    'Reads the whole store once. The bytes are those of a backup before compression: a database takes less where it',
    'compresses or shares long strings, and more for its indexes. A session has the bytes of the agents that it called.',
  ].join('\n'),
  options: {
    store: storeOption,
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary: 'The folder of a FileArtifactService, whose artifacts are measured too',
    },
    limit: {
      type: 'string',
      value: 'N',
      summary: `The most sessions to list. Default: ${DEFAULT_LIMIT}`,
    },
  },
  run: async ({ values, cwd, stdout, clock }) => {
    const limit = parseLimit(values.limit);
    const url = values.store ?? DEFAULT_STORE;
    const options = {
      ...(values.artifacts !== undefined && {
        artifacts: new FileArtifactService({ rootDir: resolve(cwd, values.artifacts), clock }),
      }),
    };
    const sizes = await withExistingStore(url, cwd, async (store) =>
      measureSessions(store, options),
    );
    const listed = sizes.slice(0, limit);
    if (values.json) for (const size of listed) stdout.write(`${JSON.stringify(size)}\n`);
    else if (sizes.length === 0) stdout.write('There are no sessions here yet.\n');
    else {
      const head = ['SESSION', 'AGENT', 'STEPS', 'JOURNAL', 'LOG', 'ARTIFACTS', 'OTHER', 'BYTES'];
      const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
      stdout.write(`${formatTable([head, ...listed.map(toCells)]).join('\n')}\n`);
      stdout.write(`${format(sizes.length)} sessions with ${format(total)} bytes.\n`);
    }
    return EXIT_OK;
  },
});

function toCells(size: SessionSize): readonly string[] {
  const { key, agent, steps, journalBytes, logBytes, artifactBytes, otherBytes, bytes } = size;
  return [
    printable(key.sessionId),
    printable(agent),
    ...[steps, journalBytes, logBytes, artifactBytes, otherBytes, bytes].map(format),
  ];
}

function format(count: number): string {
  return count.toLocaleString('en');
}

/** @throws UsageError */
function parseLimit(value: string | undefined): number {
  const limit = value === undefined ? DEFAULT_LIMIT : Number(value);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit must be a whole number above 0; it is "${value}".`, 'sizes');
}
