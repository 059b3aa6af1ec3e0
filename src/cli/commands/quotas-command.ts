import { resolve } from 'node:path';
import { QUOTA_LABELS } from '../../core/internal.ts';
import type { QuotaStatus } from '../../core/index.ts';
import { QuotaLedger } from '../../runtime/internal.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { readQuotas } from '../loading/read-quotas.ts';
import { printable } from '../terminal/printable.ts';
import { formatTable } from '../terminal/table.ts';

/** The application of petrichor serve. */
const SERVED_APP = 'managed';

/** The command that shows quotas, and what is used of them. */
export const quotasCommand: Command = defineCommand({
  name: 'quotas',
  operands: [],
  summary: 'Show the quotas of a file, and what is used of them',
  description: [
    'Reads the file that petrichor serve --quotas has, and the usage that the store counts. A server stores its',
    'workspaces as users. Days and months are those of UTC. Nothing is changed.',
  ].join('\n'),
  options: {
    store: storeOption,
    quotas: {
      type: 'string',
      value: 'FILE',
      summary: 'The JSON file with the quotas. Required',
    },
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary: 'The folder of a FileArtifactService, whose artifacts count as storage',
    },
    app: {
      type: 'string',
      value: 'NAME',
      summary: `The application. Default: ${SERVED_APP}, that of petrichor serve`,
    },
    user: {
      type: 'string',
      value: 'U',
      summary: 'Only the quotas of this user or workspace',
    },
  },
  run: async ({ values, cwd, stdout, clock }) => {
    if (values.quotas === undefined)
      throw new UsageError('--quotas is missing. Name the file with the quotas.', 'quotas');
    const quotas = readQuotas(values.quotas, cwd, 'quotas');
    const url = values.store ?? DEFAULT_STORE;
    const statuses = await withExistingStore(url, cwd, async (store) => {
      const now = (): number => clock.now();
      const app = values.app ?? SERVED_APP;
      const artifacts =
        values.artifacts === undefined
          ? undefined
          : new FileArtifactService({ rootDir: resolve(cwd, values.artifacts), clock });
      const ledger = new QuotaLedger({ app, store, artifacts, quotas, now, isOpen: () => false });
      return ledger.report(values.user);
    });
    if (values.json) for (const status of statuses) stdout.write(`${JSON.stringify(status)}\n`);
    else if (statuses.length === 0) stdout.write('No quota has a limit here.\n');
    else {
      const head = ['WHO', 'QUOTA', 'USED', 'LIMIT', 'RENEWS'];
      stdout.write(`${formatTable([head, ...statuses.map(toCells)]).join('\n')}\n`);
    }
    return EXIT_OK;
  },
});

function toCells({ scope, user, quota, used, limit, renewsAt }: QuotaStatus): readonly string[] {
  return [
    scope === 'app' ? 'all users' : printable(user ?? ''),
    QUOTA_LABELS[quota],
    format(used),
    format(limit),
    renewsAt === undefined ? 'never' : new Date(renewsAt).toISOString(),
  ];
}

function format(amount: number): string {
  return amount.toLocaleString('en', { maximumFractionDigits: 4 });
}
