import * as v from 'valibot';
import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, sha256Hex } from '../../core/index.ts';
import { AgentArchivedError } from '../../managed/index.ts';
import { deriveAgentId, parseAgentName } from '../../managed/internal.ts';
import { ScheduleNotFoundError } from '../../runtime/index.ts';
import type { Schedule, ScheduledRun } from '../../runtime/index.ts';
import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import { invalidPageError } from '../http/invalid-page-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component, field } from '../wire/component.ts';
import type { Wire } from '../wire/component.ts';
import {
  scheduleDeleted,
  schedulePage,
  scheduleResponse,
  scheduleRunPage,
  scheduleRunRequested,
} from '../wire/responses/schedule-responses.ts';
import { integerParameter, nonEmptyText, pagination, toWireTime } from '../wire/wire-schemas.ts';
import { getWorkspaceAgent } from './workspace-agents.ts';

const DEFAULT_LIMIT = 20;

const agentRef = v.union(
  [
    nonEmptyText(256),
    v.object({ id: nonEmptyText(256), version: v.optional(v.pipe(v.number(), v.safeInteger())) }),
  ],
  'must be the id of an agent, or an object with id and version',
);

const create = component(
  'ScheduleParams',
  'Definition of a new schedule: `cron` or `every_ms`, an agent and a message.',
  v.object({
    id: v.nullish(field('Default: a new id.', nonEmptyText(64))),
    cron: v.nullish(nonEmptyText(256)),
    time_zone: v.nullish(field('Default: UTC.', nonEmptyText(64))),
    every_ms: v.nullish(v.number('must be a number')),
    agent: field('Its version stays that of the creation.', agentRef),
    message: nonEmptyText(100_000),
    session_id: v.nullish(field('Default: each run starts a session.', nonEmptyText(512))),
    overlap: v.nullish(
      field(
        'Default: skip.',
        v.picklist(['skip', 'queue', 'replace'], 'must be skip, queue or replace'),
      ),
    ),
    jitter_ms: v.nullish(field('Default: 0.', v.number('must be a number'))),
    backfill: v.nullish(
      field('Default: none.', v.picklist(['none', 'last', 'all'], 'must be none, last or all')),
    ),
    max_backfill: v.nullish(field('Default: 10.', v.number('must be a number'))),
  }),
);

/** Names of fields of a definition whose names on the wire are others. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  timeZone: 'time_zone',
  everyMs: 'every_ms',
  jitterMs: 'jitter_ms',
  maxBackfill: 'max_backfill',
  session: 'session_id',
};

/** Routes for schedules. They are not part of the protocol. */
export function scheduleRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, newId } = context;
  const { schedules } = runtime.runtime;
  const toResponse = (schedule: Schedule): Wire<'Schedule'> => toWireSchedule(context, schedule);
  return [
    defineRoute('POST /v1/schedules: Create a schedule', {
      response: scheduleResponse,
      scopes: SESSION_WRITE_SCOPES,
      body: create,
      creates: true,
      run: async ({ caller: { workspace: user }, body, idempotentRequest }) => {
        const agent = await resolveAgentName(context, user, body.agent);
        const id = body.id ?? (await idempotentRequest.reserveId(newId('schedule')));
        const { message } = body;
        try {
          const schedule = await schedules.create(
            {
              id,
              agent,
              message,
              cron: body.cron ?? undefined,
              timeZone: body.time_zone ?? undefined,
              everyMs: body.every_ms ?? undefined,
              session: body.session_id ?? undefined,
              overlap: body.overlap ?? undefined,
              jitterMs: body.jitter_ms ?? undefined,
              backfill: body.backfill ?? undefined,
              maxBackfill: body.max_backfill ?? undefined,
            },
            { user },
          );
          return toResponse(schedule);
        } catch (error) {
          throw error instanceof InvalidInputError ? withWireNames(error) : error;
        }
      },
    }),
    defineRoute('GET /v1/schedules: List schedules, the oldest first', {
      response: schedulePage,
      query: v.object(pagination),
      run: async ({
        caller: { workspace: user },
        query: { limit = DEFAULT_LIMIT, page: after },
      }) => {
        const options = { user, limit: limit + 1, ...omitUndefined({ after }) };
        const found = await schedules.list(options).catch((error: unknown) => {
          if (error instanceof InvalidInputError && after !== undefined) throw invalidPageError();
          throw error;
        });
        const data = found.slice(0, limit).map(toResponse);
        return { data, next_page: found.length > limit ? (data.at(-1)?.id ?? null) : null };
      },
    }),
    defineRoute('GET /v1/schedules/{schedule_id}: Read a schedule', {
      response: scheduleResponse,
      run: async ({ caller: { workspace: user }, params }) => {
        const id = params('schedule_id');
        const found = await findSchedule(async () => schedules.get(id, { user }));
        if (found === undefined) throw new ScheduleNotFoundError(id);
        return toResponse(found);
      },
    }),
    defineRoute('DELETE /v1/schedules/{schedule_id}: Delete a schedule and its history', {
      response: scheduleDeleted,
      scopes: SESSION_WRITE_SCOPES,
      run: async ({ caller: { workspace: user }, params }) => {
        const id = params('schedule_id');
        if ((await findSchedule(async () => schedules.delete(id, { user }))) !== true)
          throw new ScheduleNotFoundError(id);
        return { id, type: 'schedule_deleted' };
      },
    }),
    defineRoute('POST /v1/schedules/{schedule_id}/pause: Pause a schedule', {
      response: scheduleResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async ({ caller: { workspace: user }, params }) => {
        const id = params('schedule_id');
        return toResponse(await getSchedule(id, async () => schedules.pause(id, { user })));
      },
    }),
    defineRoute('POST /v1/schedules/{schedule_id}/resume: Continue a paused schedule', {
      response: scheduleResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async ({ caller: { workspace: user }, params }) => {
        const id = params('schedule_id');
        return toResponse(await getSchedule(id, async () => schedules.resume(id, { user })));
      },
    }),
    defineRoute('POST /v1/schedules/{schedule_id}/run: Start a run now', {
      response: scheduleRunRequested,
      scopes: SESSION_WRITE_SCOPES,
      run: async ({ caller: { workspace: user }, params, idempotentRequest }) => {
        const id = params('schedule_id');
        const key = sha256Hex(idempotentRequest.key).slice(0, 32);
        const run = await getSchedule(id, async () => schedules.run(id, { user, key }));
        return { id: run, type: 'schedule_run_requested' };
      },
    }),
    defineRoute('GET /v1/schedules/{schedule_id}/runs: List the last runs, the last due first', {
      response: scheduleRunPage,
      query: v.object({ limit: v.optional(integerParameter(1, 1000)) }),
      run: async ({ caller: { workspace: user }, params, query }) => {
        const id = params('schedule_id');
        const options = { user, ...omitUndefined({ limit: query.limit }) };
        const runs = await getSchedule(id, async () => schedules.history(id, options));
        return { data: runs.map(toWireRun), next_page: null };
      },
    }),
  ];
}

/** Undefined for a text that is no id of a schedule. */
async function findSchedule<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof InvalidInputError && error.field === 'id') return undefined;
    throw error;
  }
}

/** @throws ScheduleNotFoundError */
async function getSchedule<T>(id: string, get: () => Promise<T>): Promise<T> {
  const found = await findSchedule(get);
  if (found === undefined) throw new ScheduleNotFoundError(id);
  return found;
}

/** The name of an agent in the journals of its sessions. @throws HttpError 404, AgentArchivedError */
async function resolveAgentName(
  context: ServerContext,
  workspace: string,
  agent: string | { readonly id: string; readonly version?: number | undefined },
): Promise<string> {
  const { id, version } = typeof agent === 'string' ? { id: agent } : agent;
  const found = await getWorkspaceAgent(context, workspace, id, version);
  if (found.archivedAt !== undefined) throw new AgentArchivedError(found.id);
  const loaded = await context.runtime.loadAgent(found.id, { version: found.version });
  return loaded.name;
}

function withWireNames({ field: name, message }: InvalidInputError): InvalidInputError {
  const problem = message
    .slice(name.length + 2)
    .replaceAll(/\w+/g, (word) => WIRE_NAMES[word] ?? word);
  return new InvalidInputError(WIRE_NAMES[name] ?? name, problem);
}

function toWireSchedule({ runtime }: ServerContext, schedule: Schedule): Wire<'Schedule'> {
  const { agent } = schedule;
  const stored = runtime.runtime.agents.has(agent) ? undefined : parseAgentName(agent);
  return {
    id: schedule.id,
    type: 'schedule',
    cron: schedule.cron ?? null,
    time_zone: schedule.timeZone ?? null,
    every_ms: schedule.everyMs ?? null,
    agent_id: stored?.agentId ?? deriveAgentId(agent),
    agent_version: stored?.version ?? null,
    message: schedule.message,
    session_id: schedule.session ?? null,
    overlap: schedule.overlap,
    jitter_ms: schedule.jitterMs,
    backfill: schedule.backfill,
    max_backfill: schedule.maxBackfill,
    status: schedule.status,
    created_at: toWireTime(schedule.createdAt),
    next_due_at: toOptionalTime(schedule.nextDueAt),
    next_run_at: toOptionalTime(schedule.nextRunAt),
    waiting_runs: schedule.waiting,
    last_run: schedule.lastRun === null ? null : toWireRun(schedule.lastRun),
  };
}

function toWireRun(run: ScheduledRun): Wire<'ScheduleRun'> {
  return {
    id: run.id,
    type: 'schedule_run',
    kind: run.kind,
    status: run.status,
    due_at: toWireTime(run.dueAt),
    missed_to: toOptionalTime(run.missedTo),
    session_id: run.sessionId ?? null,
    started_at: toOptionalTime(run.startedAt),
    ended_at: toOptionalTime(run.endedAt),
    reason: run.reason ?? null,
  };
}

function toOptionalTime(at: number | null | undefined): string | null {
  return at == null ? null : toWireTime(at);
}
