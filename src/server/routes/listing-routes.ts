import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import type { QuotaStatus } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type {
  ListedPendingCall,
  PendingCallChange,
  SessionChangeEvent,
  UsageOptions,
} from '../../runtime/index.ts';
import type { UsageTotal } from '../../store/index.ts';
import { toWireQuota } from '../http/wire-quota.ts';
import { frameStream, frame } from '../events/frame-stream.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute, RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import {
  pendingCallChange,
  pendingCallPage,
  quotaList,
  sessionListChange,
  usageList,
} from '../wire/responses/listing-responses.ts';
import { toThreadId } from '../wire/wire-event.ts';
import { nonEmptyText, pagination, toWireTime } from '../wire/wire-schemas.ts';
import { toWireSession } from './to-wire-session.ts';

const DEFAULT_LIMIT = 20;

const pendingFilter = {
  agent_id: v.optional(nonEmptyText(256)),
  tool: v.optional(nonEmptyText(256)),
  needs: v.optional(v.picklist(['approval', 'result'], 'must be approval or result')),
};

const sessionChangesQuery = v.object({
  agent_id: v.optional(nonEmptyText(256)),
  after_id: v.optional(nonEmptyText(256)),
});

const period = {
  from: v.optional(nonEmptyText(10)),
  to: v.optional(nonEmptyText(10)),
  agent_id: v.optional(nonEmptyText(256)),
};

const DIMENSIONS = ['agent', 'day', 'model'] as const;
const OPERATOR_DIMENSIONS = [...DIMENSIONS, 'workspace'] as const;

type Call = Pick<RouteCall<unknown, unknown>, 'request' | 'isKeyValid' | 'destroyConnection'>;

/** Routes over all sessions of a workspace: pending calls, changes and usage. */
export function listingRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime } = context;
  const stream = (
    { request, isKeyValid: isAllowed, destroyConnection }: Call,
    frames: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>,
  ): Response => {
    const { closing, clock, keepAliveMs, readerTimeoutMs } = context;
    const signals = [request.signal, closing];
    return frameStream({
      frames,
      signals,
      isAllowed,
      clock,
      keepAliveMs,
      readerTimeoutMs,
      destroyConnection,
    });
  };
  // Streams that read a change together send the same frame. A change belongs to one workspace.
  const frames = new WeakMap<SessionChangeEvent, Promise<string | undefined>>();
  const toSharedFrame = async (change: SessionChangeEvent): Promise<string | undefined> => {
    const known = frames.get(change) ?? toSessionChangeFrame(context, change);
    frames.set(change, known);
    return known;
  };
  return [
    defineRoute('GET /v1/pending: List the calls that wait, of all sessions', {
      response: pendingCallPage,
      query: v.object({ ...pagination, ...pendingFilter }),
      run: async ({ caller: { workspace }, query }) => {
        const { agent_id: agent, tool, needs, limit = DEFAULT_LIMIT, page: after } = query;
        const page = await runtime.pendingCalls({
          user: workspace,
          limit,
          ...omitUndefined({ agent, tool, needs, after }),
        });
        return { data: page.calls.map(toWirePendingCall), next_page: page.next ?? null };
      },
    }),
    defineRoute('GET /v1/pending/stream: The calls that wait, then their changes', {
      response: pendingCallChange,
      query: v.object(pendingFilter),
      streams: true,
      run: async (call) => {
        const { agent_id: agent, tool, needs } = call.query;
        const user = call.caller.workspace;
        return stream(call, async function* (signal) {
          yield frame({ type: 'pending.reset' } satisfies Wire<'PendingCallChange'>);
          const filter = { user, signal, ...omitUndefined({ agent, tool, needs }) };
          for await (const change of runtime.watchPendingCalls(filter))
            yield frame(toWirePendingCallChange(change));
        });
      },
    }),
    defineRoute('GET /v1/stream: Changes in the list of sessions as they happen', {
      response: sessionListChange,
      query: sessionChangesQuery,
      streams: true,
      run: async (call) => {
        const { agent_id: agent, after_id } = call.query;
        const user = call.caller.workspace;
        const lastId = call.request.headers.get('last-event-id') ?? after_id;
        const after = lastId === '' ? undefined : lastId;
        // Checks the cursor before the response begins.
        const ended = new AbortController();
        const signals = [call.request.signal, context.closing, ended.signal];
        const followed = runtime.sessionChanges({
          user,
          signal: AbortSignal.any(signals),
          ...omitUndefined({ agent, after }),
        });
        const changes = followed[Symbol.asyncIterator]();
        const first = await changes.next();
        return stream(call, async function* (signal) {
          signal.addEventListener('abort', () => ended.abort());
          for (let next = first; next.done !== true; next = await changes.next()) {
            const text = await toSharedFrame(next.value);
            if (text !== undefined) yield text;
          }
        });
      },
    }),
    defineRoute('GET /v1/usage: Tokens and model calls of the workspace', {
      response: usageList,
      query: v.object({
        ...period,
        by: v.optional(v.array(v.picklist(DIMENSIONS, `must be one of ${DIMENSIONS.join(', ')}`))),
      }),
      run: async ({ caller: { workspace }, query: { agent_id: agent, ...query } }) => {
        const options: UsageOptions = { user: workspace, ...omitUndefined({ ...query, agent }) };
        return { data: (await runtime.usageTotals(options)).map(toWireUsage) };
      },
    }),
    defineRoute('GET /v1/operator/usage: Tokens and model calls of all workspaces', {
      response: usageList,
      scopes: ['operator'],
      query: v.object({
        ...period,
        workspace: v.optional(nonEmptyText(64)),
        by: v.optional(
          v.array(
            v.picklist(OPERATOR_DIMENSIONS, `must be one of ${OPERATOR_DIMENSIONS.join(', ')}`),
          ),
        ),
      }),
      run: async ({ query: { agent_id: agent, workspace: user, by = [], ...query } }) => {
        const options: UsageOptions = {
          by: by.map((one) => (one === 'workspace' ? 'user' : one)),
          ...omitUndefined({ ...query, agent, user }),
        };
        return { data: (await runtime.usageTotals(options)).map(toWireUsage) };
      },
    }),
    defineRoute('GET /v1/quotas: The quotas of the workspace, and what is used of them', {
      response: quotaList,
      run: async ({ caller: { workspace } }) => ({
        data: (await runtime.runtime.quotas({ user: workspace })).map(toQuotaResponse),
      }),
    }),
    defineRoute('GET /v1/operator/quotas: The quotas of all workspaces, and what is used of them', {
      response: quotaList,
      scopes: ['operator'],
      query: v.object({ workspace: v.optional(nonEmptyText(64)) }),
      run: async ({ query: { workspace: user } }) => ({
        data: (await runtime.runtime.quotas(omitUndefined({ user }))).map(toQuotaResponse),
      }),
    }),
  ];
}

function toQuotaResponse(status: QuotaStatus): Wire<'Quota'> {
  const { user } = status;
  return { type: 'quota', ...toWireQuota(status), ...omitUndefined({ workspace: user }) };
}

function toWirePendingCall(call: ListedPendingCall): Wire<'PendingCall'> {
  return {
    type: 'pending_call',
    id: call.id,
    session_id: call.key.sessionId,
    session_thread_id: call.session === undefined ? null : toThreadId(call.session),
    agent_id: call.agent,
    name: call.name,
    input: call.args,
    needs: call.needs,
    reason: call.needs === 'approval' ? (call.reason ?? null) : null,
    fingerprint: call.fingerprint,
    request: call.request ?? null,
    waiting_since: toWireTime(call.since),
    expires_at: call.expiresAt === undefined ? null : toWireTime(call.expiresAt),
  };
}

function toWirePendingCallChange(change: PendingCallChange): Wire<'PendingCallChange'> {
  if (change.type === 'current') return { type: 'pending.current' };
  if (change.type === 'removed')
    return { type: 'pending.removed', session_id: change.key.sessionId, id: change.callId };
  return { type: `pending.${change.type}`, call: toWirePendingCall(change.call) };
}

async function toSessionChangeFrame(
  context: ServerContext,
  event: SessionChangeEvent,
): Promise<string | undefined> {
  const change = await toWireSessionChange(context, event);
  return change === undefined ? undefined : `id: ${event.cursor}\n${frame(change)}`;
}

/** Undefined for a session that is being deleted; its deletion follows. */
async function toWireSessionChange(
  context: ServerContext,
  change: SessionChangeEvent,
): Promise<Wire<'SessionListChange'> | undefined> {
  if (change.type === 'current') return { type: 'sessions.current' };
  const id = change.key.sessionId;
  if (change.type === 'deleted') return { type: 'sessions.deleted', id };
  try {
    const session = await context.runtime.getSession({ id, userId: change.key.userId });
    return { type: 'sessions.changed', session: await toWireSession(context, session) };
  } catch (error) {
    if (error instanceof ManagedSessionNotFoundError) return undefined;
    throw error;
  }
}

function toWireUsage({ agent, user, day, model, calls, tokens }: UsageTotal): Wire<'UsageTotal'> {
  return {
    type: 'usage_total',
    ...omitUndefined({ agent_id: agent, workspace: user, day, model }),
    calls,
    input_tokens: tokens.inputTokens,
    output_tokens: tokens.outputTokens,
    thinking_tokens: tokens.thinkingTokens ?? 0,
    cache_read_input_tokens: tokens.cacheReadTokens ?? 0,
    cache_creation_input_tokens: tokens.cacheWriteTokens ?? 0,
  };
}
