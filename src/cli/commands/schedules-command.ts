import { omitUndefined } from '../../core/internal.ts';
import { createClient } from '../../client/index.ts';
import type { Client, Schedule, ScheduleParams, ScheduleRun } from '../../client/index.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { parseDuration } from '../terminal/duration.ts';
import { createPaint } from '../terminal/paint.ts';
import { oneLine } from '../terminal/printable.ts';
import { formatTable } from '../terminal/table.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';
const TEXT_WIDTH = 60;

const options = {
  url: { type: 'string', value: 'URL', summary: `The server. Default: ${DEFAULT_URL}` },
  key: { type: 'string', value: 'KEY', summary: 'The API key. Default: PETRICHOR_API_KEY' },
  cron: { type: 'string', value: 'PATTERN', summary: 'With create: five fields, as "0 9 * * 1-5"' },
  'time-zone': {
    type: 'string',
    value: 'ZONE',
    summary: 'With create and --cron: as Europe/Berlin. Default: UTC',
  },
  every: {
    type: 'string',
    value: 'TIME',
    summary: 'With create, instead of --cron: 90s, 15m, 12h',
  },
  agent: { type: 'string', value: 'ID', summary: 'With create: the agent of the sessions' },
  message: { type: 'string', value: 'TEXT', summary: 'With create: what each run sends' },
  session: {
    type: 'string',
    value: 'ID',
    summary: 'With create: the session that gets the messages. Default: a new one for each run',
  },
  overlap: {
    type: 'string',
    value: 'POLICY',
    summary: 'With create: skip, queue or replace. Default: skip',
  },
  jitter: {
    type: 'string',
    value: 'TIME',
    summary: 'With create: the largest delay. Default: none',
  },
  backfill: {
    type: 'string',
    value: 'POLICY',
    summary: 'With create: none, last or all. Default: none',
  },
} as const;

type SchedulesCall = CommandCall<typeof options>;

/** The command that creates, lists and changes the schedules of a server. */
export const schedulesCommand: Command = defineCommand({
  name: 'schedules',
  operands: ['list|create|pause|resume|run|history|delete', '[ID]'],
  summary: 'Create, list, pause, run and delete the schedules of a server',
  description: [
    'A schedule starts sessions, or sends messages to one, by a cron pattern or at an interval. create needs --agent,',
    '--message, and --cron or --every; its ID is optional. run starts a run now. history lists the last runs. delete',
    'keeps the sessions that the schedule started.',
  ].join('\n'),
  options,
  run: async (call) => {
    const { values, env } = call;
    const [action = '', id] = call.operands;
    const baseUrl = values.url ?? DEFAULT_URL;
    if (!URL.canParse(baseUrl)) throw new UsageError(`"${baseUrl}" is not a URL.`, 'schedules');
    const apiKey = values.key ?? env['PETRICHOR_API_KEY'];
    const { schedules } = createClient({ baseUrl, ...omitUndefined({ apiKey }) });
    switch (action) {
      case 'list':
        return showSchedules(call, await listAll(schedules));
      case 'create':
        return showSchedules(call, [await schedules.create(toParams(call, id))]);
      case 'pause':
      case 'resume':
        return showSchedules(call, [await schedules[action](requireId(id))]);
      case 'history':
        return showRuns(call, await schedules.runs(requireId(id)));
      case 'run':
        return runNow(call, schedules, requireId(id));
      case 'delete':
        return remove(call, schedules, requireId(id));
      default:
        throw new UsageError(
          `"${action}" is not list, create, pause, resume, run, history or delete.`,
          'schedules',
        );
    }
  },
});

async function listAll(schedules: Client['schedules']): Promise<readonly Schedule[]> {
  const found: Schedule[] = [];
  for await (const schedule of schedules.list({ limit: 100 })) found.push(schedule);
  return found;
}

function requireId(id: string | undefined): string {
  if (id === undefined) throw new UsageError('ID is missing.', 'schedules');
  return id;
}

/** @throws UsageError */
function toParams({ values }: SchedulesCall, id: string | undefined): ScheduleParams {
  const { agent, message, cron, every, session, overlap, jitter, backfill } = values;
  if (agent === undefined) throw new UsageError('create needs --agent ID.', 'schedules');
  if (message === undefined) throw new UsageError('create needs --message TEXT.', 'schedules');
  return {
    agent,
    message,
    ...omitUndefined({
      id,
      cron,
      time_zone: values['time-zone'],
      every_ms: parseTime('every', every),
      session_id: session,
      overlap: parseChoice('overlap', overlap, ['skip', 'queue', 'replace'] as const),
      jitter_ms: parseTime('jitter', jitter),
      backfill: parseChoice('backfill', backfill, ['none', 'last', 'all'] as const),
    }),
  };
}

/** @throws UsageError */
function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw new UsageError(
    `--${name} must be a duration such as 90s, 15m or 12h; it is "${value}".`,
    'schedules',
  );
}

/** @throws UsageError */
function parseChoice<T extends string>(
  name: string,
  value: string | undefined,
  choices: readonly T[],
): T | undefined {
  const found = choices.find((choice) => choice === value);
  if (value === undefined || found !== undefined) return found;
  throw new UsageError(
    `--${name} must be one of ${choices.join(', ')}; it is "${value}".`,
    'schedules',
  );
}

async function runNow(
  { values, stdout }: SchedulesCall,
  schedules: Client['schedules'],
  id: string,
): Promise<ExitCode> {
  const run = await schedules.run(id);
  stdout.write(values.json ? `${JSON.stringify({ id, run })}\n` : `The run ${run} is due.\n`);
  return EXIT_OK;
}

async function remove(
  { values, stdout }: SchedulesCall,
  schedules: Client['schedules'],
  id: string,
): Promise<ExitCode> {
  await schedules.delete(id);
  const sentence = `The schedule ${id} is deleted.`;
  stdout.write(values.json ? `${JSON.stringify({ id, deleted: true })}\n` : `${sentence}\n`);
  return EXIT_OK;
}

function showSchedules(call: SchedulesCall, schedules: readonly Schedule[]): ExitCode {
  return show(call, schedules, {
    none: 'There are no schedules here yet.',
    head: ['SCHEDULE', 'DUE', 'AGENT', 'STATUS', 'NEXT', 'LAST RUN', 'MESSAGE'],
    toCells: (schedule) => [
      schedule.id,
      schedule.cron === null
        ? `every ${(schedule.every_ms ?? 0) / 1000} s`
        : `${schedule.cron} ${schedule.time_zone ?? ''}`,
      schedule.agent_id,
      schedule.status,
      schedule.next_run_at ?? '',
      schedule.last_run?.status ?? '',
      oneLine(schedule.message, TEXT_WIDTH),
    ],
  });
}

function showRuns(call: SchedulesCall, runs: readonly ScheduleRun[]): ExitCode {
  return show(call, runs, {
    none: 'There are no runs yet.',
    head: ['RUN', 'KIND', 'STATUS', 'SESSION', 'REASON'],
    toCells: ({ id, kind, status, session_id, missed_to, reason }) => [
      missed_to === null ? id : `${id} to ${missed_to}`,
      kind,
      status,
      session_id ?? '',
      oneLine(reason ?? '', TEXT_WIDTH),
    ],
  });
}

function show<T>(
  { values, stdout, env }: SchedulesCall,
  items: readonly T[],
  table: {
    readonly none: string;
    readonly head: readonly string[];
    readonly toCells: (item: T) => readonly string[];
  },
): ExitCode {
  if (values.json) for (const item of items) stdout.write(`${JSON.stringify(item)}\n`);
  else if (items.length === 0) stdout.write(`${table.none}\n`);
  else {
    const [head = '', ...lines] = formatTable([table.head, ...items.map(table.toCells)]);
    stdout.write(`${createPaint(stdout, env)('dim', head)}\n${lines.join('\n')}\n`);
  }
  return EXIT_OK;
}
