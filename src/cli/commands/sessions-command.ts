import { omitUndefined } from '../../core/internal.ts';
import { STORED_STATUSES } from '../../store/internal.ts';
import type { SessionRow, StoredStatus } from '../../store/index.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import { formatAge } from '../terminal/duration.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import {
  DEFAULT_APP,
  DEFAULT_STORE,
  DEFAULT_USER,
  storeOption,
} from '../command/shared-options.ts';
import { formatTable } from '../terminal/table.ts';
import { UsageError } from '../command/usage-error.ts';

const DEFAULT_LIMIT = 50;

const options = {
  store: storeOption,
  user: { type: 'string', value: 'U', summary: 'Only sessions of this user' },
  app: { type: 'string', value: 'NAME', summary: 'Only sessions of this application' },
  agent: { type: 'string', value: 'NAME', summary: 'Only sessions of this agent' },
  status: {
    type: 'string',
    value: 'STATUS',
    summary: 'Only sessions with this status',
  },
  limit: {
    type: 'string',
    value: 'N',
    summary: `The most sessions to list. Default: ${DEFAULT_LIMIT}`,
  },
} as const;

/** The command that lists sessions. */
export const sessionsCommand: Command = defineCommand({
  name: 'sessions',
  operands: [],
  summary: 'List the sessions of a store, most recently changed first',
  description: [
    'A status is one of: queued: no message yet. running: a turn is in progress, or was when its process died; opening',
    'the session continues it. waiting: a call waits for an answer. rescheduling: a model call waits for its next',
    'attempt. idle: the last turn is over. paused: nothing starts until a resume. failed: the model could not be reached.',
    'completed, archived: the session is closed. quarantined: opening it failed three times in a row, and it is not',
    'opened again until petrichor unquarantine releases it.',
  ].join('\n'),
  options,
  run: async (call) => {
    const { values, cwd } = call;
    const limit = parseLimit(values.limit);
    const filter = {
      limit,
      parent: null,
      ...omitUndefined({ userId: values.user, appName: values.app, agent: values.agent }),
      ...parseStatus(values.status),
    };
    const url = values.store ?? DEFAULT_STORE;
    const rows = await withExistingStore(url, cwd, async (store) => store.list(filter));
    return values.json ? showJson(call, rows) : showTable(call, rows, limit);
  },
});

function parseStatus(value: string | undefined): { readonly status?: StoredStatus } {
  if (value === undefined) return {};
  const status = STORED_STATUSES.find((known) => known === value);
  if (status !== undefined) return { status };
  throw new UsageError(
    `--status must be one of ${STORED_STATUSES.join(', ')}; it is "${value}".`,
    'sessions',
  );
}

function parseLimit(value: string | undefined): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const limit = Number(value);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit must be a whole number above 0; it is "${value}".`, 'sessions');
}

function showJson({ stdout }: CommandCall<typeof options>, rows: readonly SessionRow[]): ExitCode {
  for (const row of rows) {
    const { key, agent, status, owner, lastSeq, head, pending, createdAt, updatedAt } = row;
    const { appName: app, userId: user, sessionId: session } = key;
    const facts = {
      session,
      user,
      app,
      agent,
      status,
      owner,
      events: lastSeq,
      steps: head,
      pending,
      createdAt,
      updatedAt,
    };
    stdout.write(`${JSON.stringify(facts)}\n`);
  }
  return EXIT_OK;
}

function showTable(
  { values, stdout, env, clock }: CommandCall<typeof options>,
  rows: readonly SessionRow[],
  limit: number,
): ExitCode {
  const paint = createPaint(stdout, env);
  const now = clock.now();
  const { status, user, app, agent } = values;
  const isChosen = [status, user, app, agent].some((choice) => choice !== undefined);
  if (rows.length === 0)
    stdout.write(isChosen ? 'No session matches.\n' : 'There are no sessions here yet.\n');
  else {
    const [head = '', ...lines] = formatTable([
      ['SESSION', 'AGENT', 'STATUS', 'EVENTS', 'CHANGED', 'WAITS FOR'],
      ...rows.map((row) => toCells(row, now)),
    ]);
    stdout.write(`${paint('dim', head)}\n${lines.join('\n')}\n`);
  }
  if (rows.length === limit)
    stdout.write(`${paint('dim', `The ${limit} most recently changed; --limit shows more.`)}\n`);
  return EXIT_OK;
}

function toCells(
  { key, agent, status, lastSeq, updatedAt, pending }: SessionRow,
  now: number,
): readonly string[] {
  const marks = [
    ...(key.userId === DEFAULT_USER ? [] : [`user ${key.userId}`]),
    ...(key.appName === DEFAULT_APP ? [] : [`app ${key.appName}`]),
  ];
  const owner = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  const waitsFor = pending.map(({ name, needs }) => `${name}: ${needs}`).join(', ');
  return [
    key.sessionId + owner,
    agent,
    status,
    String(lastSeq),
    formatAge(now - updatedAt),
    waitsFor,
  ].map(printable);
}
