import * as v from 'valibot';
import { WIRE_QUOTA_NAMES } from '../../http/wire-quota.ts';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, page, time } from './response-parts.ts';
import { sessionResponse } from './session-responses.ts';

const pendingCall: WireSchema<'PendingCall'> = component(
  'PendingCall',
  'A tool call that waits for an approval or a result. Answer it with an event to its session.',
  v.object({
    type: v.literal('pending_call'),
    id: field('Names the call in an answer, as `tool_use_id` or `custom_tool_use_id`.', v.string()),
    session_id: v.string(),
    session_thread_id: field(
      'The thread of the called agent that made the call. Null: the session itself.',
      v.nullable(v.string()),
    ),
    agent_id: field('The agent that made the call.', v.string()),
    name: field('The name of the tool.', v.string()),
    input: field('The arguments of the call.', v.unknown()),
    needs: v.picklist(['approval', 'result']),
    reason: field(
      '`policy`: the tool needs approval. `crash`: the outcome of the call is unknown.',
      v.nullable(v.picklist(['policy', 'crash'])),
    ),
    fingerprint: field('Changes with the name and the arguments of the call.', v.string()),
    request: field('The question of the call, or its last progress report.', v.unknown()),
    waiting_since: time,
    expires_at: field('When the wait times out. Null: never.', v.nullable(time)),
  }),
);

/** A page of pending calls, the longest waiting first. */
export const pendingCallPage: WireSchema<'PendingCallPage'> = page('PendingCallPage', pendingCall);

/** An event of the stream of pending calls. */
export const pendingCallChange: WireSchema<'PendingCallChange'> = component(
  'PendingCallChange',
  'A change of the pending calls. `pending.reset`: the stream begins; forget the calls of an earlier one. `pending.current`: all calls that waited when the stream began have been sent.',
  v.variant('type', [
    v.object({ type: v.literal('pending.reset') }),
    v.object({ type: v.literal('pending.current') }),
    v.object({ type: v.literal('pending.added'), call: pendingCall }),
    v.object({ type: v.literal('pending.changed'), call: pendingCall }),
    v.object({ type: v.literal('pending.removed'), session_id: v.string(), id: v.string() }),
  ]),
);

/** An event of the stream of session changes. */
export const sessionListChange: WireSchema<'SessionListChange'> = component(
  'SessionListChange',
  'A change in the list of sessions. `sessions.current`: every earlier change has been sent; list the sessions then.',
  v.variant('type', [
    v.object({ type: v.literal('sessions.current') }),
    v.object({ type: v.literal('sessions.changed'), session: sessionResponse }),
    v.object({ type: v.literal('sessions.deleted'), id: v.string() }),
  ]),
);

const usageTotal: WireSchema<'UsageTotal'> = component(
  'UsageTotal',
  'The usage of one group. It has the members that the request groups by.',
  v.object({
    type: v.literal('usage_total'),
    agent_id: v.exactOptional(v.string()),
    workspace: v.exactOptional(v.string()),
    day: field('A UTC day, as YYYY-MM-DD.', v.exactOptional(v.string())),
    model: field('Empty: unknown.', v.exactOptional(v.string())),
    calls: field('Number of answers of models.', count),
    input_tokens: field('All input tokens, with cached ones.', count),
    output_tokens: field('All output tokens, with thinking.', count),
    thinking_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
);

/** Usage by groups. */
export const usageList: WireSchema<'UsageList'> = component(
  'UsageList',
  'All groups that have any usage, in the order of `by`.',
  v.object({ data: v.array(usageTotal) }),
);

const quotaStatus: WireSchema<'Quota'> = component(
  'Quota',
  'A quota of a workspace, or of all workspaces together, with what is used of it.',
  v.object({
    type: v.literal('quota'),
    quota: v.picklist(Object.values(WIRE_QUOTA_NAMES)),
    scope: v.picklist(['workspace', 'all_workspaces']),
    workspace: field('If the scope is `workspace`.', v.exactOptional(v.string())),
    limit: v.number(),
    used: v.number(),
    renews_at: field(
      'When the used amount returns to 0. Null: it does not renew.',
      v.nullable(v.string()),
    ),
  }),
);

/** Quotas with what is used of them. */
export const quotaList: WireSchema<'QuotaList'> = component(
  'QuotaList',
  'All quotas that have a limit.',
  v.object({ data: v.array(quotaStatus) }),
);
