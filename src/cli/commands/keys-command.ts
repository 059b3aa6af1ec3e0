import { omitUndefined } from '../../core/internal.ts';
import type { ApiKey, ApiKeys, KeyScope } from '../../server/index.ts';
import type { Clock } from '../../net/index.ts';
import { openStore, type Store } from '../../store/index.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import { formatAge, parseDuration } from '../terminal/duration.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_FAILURE, EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { createPaint } from '../terminal/paint.ts';
import { oneLine, printable } from '../terminal/printable.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { formatTable } from '../terminal/table.ts';
import { UsageError } from '../command/usage-error.ts';

const options = {
  store: storeOption,
  name: { type: 'string', value: 'NAME', summary: 'With create: a description of the key' },
  workspace: {
    type: 'string',
    value: 'NAME',
    summary: 'With create: the workspace it gives access to. Default: default',
  },
  scope: {
    type: 'string',
    value: 'SCOPE',
    summary:
      'With create: full, read, console, metrics, operator, import or environment. Default: full',
  },
  environment: {
    type: 'string',
    value: 'ID',
    summary: 'With create and --scope environment: the environment it gives access to',
  },
  expires: {
    type: 'string',
    value: 'DURATION',
    summary: 'With create: when it expires: 90d, 12h, 30m. Default: never',
  },
} as const;

const DEFAULT_WORKSPACE = 'default';
const NAME_WIDTH = 60;

/** The command that creates, lists and revokes the API keys of a server. */
export const keysCommand: Command = defineCommand({
  name: 'keys',
  operands: ['create|list|revoke', '[ID]'],
  summary: 'Create, list and revoke the API keys of a server',
  description: [
    'create creates a key and shows it once; the store keeps only a hash. list shows the existing keys. revoke revokes',
    'a key by its id, with immediate effect, also on a running server. Once the store has a key, its servers require',
    'one. A key gives access to one workspace: its agents, environments and sessions. Its scope limits it further:',
    '"read" allows no changes, "console" those of sessions, schedules and proofs, "metrics" only GET /metrics, "operator"',
    'only the operator routes: listing, evicting and unquarantining sessions of all workspaces, their quotas, and draining;',
    '"import" only adding sessions of journal files, and "environment" only the work of one environment, for workers.',
  ].join('\n'),
  options,
  run: async (call) => {
    const [action = '', id] = call.operands;
    switch (action) {
      case 'create':
        return create(call, id);
      case 'list':
        return list(call, id);
      case 'revoke':
        return revoke(call, id);
      default:
        throw new UsageError(`"${action}" is not create, list or revoke.`, 'keys');
    }
  },
});

type KeysCall = CommandCall<typeof options>;

async function create(call: KeysCall, id: string | undefined): Promise<ExitCode> {
  assertNoId(id);
  const { values, stdout, stderr, clock } = call;
  const { workspace = DEFAULT_WORKSPACE, name = '' } = values;
  const scope = parseScope(values);
  const expiresAt = parseExpiry(values.expires, clock);
  const store = await openStore(values.store ?? DEFAULT_STORE);
  try {
    const { key, token } = await (
      await openKeys(store, clock)
    ).create(workspace, name, {
      scope,
      ...omitUndefined({ expiresAt }),
    });
    if (values.json) stdout.write(`${JSON.stringify({ ...toKeyJson(key), key: token })}\n`);
    else {
      stdout.write(`${token}\n`);
      const limits = [
        ...(scope.type === 'full' ? [] : [`, scope ${scope.type}`]),
        ...(expiresAt === undefined ? [] : [`, until ${new Date(expiresAt).toISOString()}`]),
      ];
      stderr.write(
        `Key ${key.id} for workspace ${workspace}${limits.join('')}. It is not shown again.\n`,
      );
    }
    return EXIT_OK;
  } finally {
    await store.close();
  }
}

async function list(call: KeysCall, id: string | undefined): Promise<ExitCode> {
  assertNoId(id);
  const { values, stdout, env, clock } = call;
  const keys = await withKeys(call, async (all) => all.list());
  // Keys for a single session of a worker are created and revoked automatically.
  const shown = keys.filter(({ scope }) => scope.type !== 'session');
  if (values.json) for (const key of shown) stdout.write(`${JSON.stringify(toKeyJson(key))}\n`);
  else if (shown.length === 0) stdout.write('There are no keys here yet.\n');
  else {
    const [head = '', ...lines] = formatTable([
      ['KEY', 'WORKSPACE', 'SCOPE', 'CREATED', 'STATE', 'NAME'],
      ...shown.map((key) => [
        key.id,
        key.workspace,
        key.scope.type === 'environment' ? key.scope.environmentId : key.scope.type,
        formatAge(clock.now() - key.createdAt),
        formatKeyState(key, clock),
        oneLine(key.name, NAME_WIDTH),
      ]),
    ]);
    stdout.write(`${createPaint(stdout, env)('dim', head)}\n${lines.join('\n')}\n`);
  }
  return EXIT_OK;
}

async function revoke(call: KeysCall, id: string | undefined): Promise<ExitCode> {
  if (id === undefined) throw new UsageError('ID is missing.', 'keys');
  const { values, stdout, stderr } = call;
  const isRevoked = await withKeys(call, async (keys) => keys.revoke(id));
  if (values.json) stdout.write(`${JSON.stringify({ id, revoked: isRevoked })}\n`);
  else if (isRevoked) stdout.write(`Key ${id} is revoked.\n`);
  else
    stderr.write(`There is no valid key ${printable(id)}. petrichor keys list shows the keys.\n`);
  return isRevoked ? EXIT_OK : EXIT_FAILURE;
}

async function withKeys<T>(
  { values, cwd, clock }: KeysCall,
  use: (keys: ApiKeys) => Promise<T>,
): Promise<T> {
  return withExistingStore(values.store ?? DEFAULT_STORE, cwd, async (store) =>
    use(await openKeys(store, clock)),
  );
}

// Loaded on demand, because it loads the server.
async function openKeys(store: Store, clock: Clock): Promise<ApiKeys> {
  const { ApiKeys: Keys } = await import('../../server/index.ts');
  return new Keys(store, clock);
}

function assertNoId(id: string | undefined): void {
  if (id !== undefined) throw new UsageError(`Unexpected argument "${id}".`, 'keys');
}

function parseScope({ scope = 'full', environment }: KeysCall['values']): KeyScope {
  if (scope === 'environment') {
    if (environment === undefined)
      throw new UsageError('--scope environment needs --environment ID.', 'keys');
    return { type: scope, environmentId: environment };
  }
  if (environment !== undefined)
    throw new UsageError('--environment is allowed only with --scope environment.', 'keys');
  if (
    scope === 'full' ||
    scope === 'read' ||
    scope === 'console' ||
    scope === 'metrics' ||
    scope === 'operator' ||
    scope === 'import'
  )
    return { type: scope };
  throw new UsageError(
    `--scope must be full, read, console, metrics, operator, import or environment; it is "${scope}".`,
    'keys',
  );
}

function parseExpiry(expires: string | undefined, clock: Clock): number | undefined {
  if (expires === undefined) return undefined;
  const ms = parseDuration(expires);
  if (ms !== undefined) return clock.now() + ms;
  throw new UsageError(
    `--expires must be a duration such as 90d, 12h or 30m; it is "${expires}".`,
    'keys',
  );
}

function formatKeyState({ revokedAt, expiresAt }: ApiKey, clock: Clock): string {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt === undefined) return 'valid';
  return expiresAt <= clock.now() ? 'expired' : `until ${new Date(expiresAt).toISOString()}`;
}

function toKeyJson({
  id,
  workspace,
  name,
  createdAt,
  revokedAt,
  expiresAt,
  scope,
}: ApiKey): object {
  return {
    id,
    workspace,
    name,
    scope,
    createdAt,
    ...omitUndefined({ expiresAt, revokedAt }),
  };
}
