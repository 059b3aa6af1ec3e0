import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { sessionAgentResponse, threadAgentResponse } from './agent-responses.ts';
import { SESSION_STATES } from '../wire-schemas.ts';
import { count, deletion, page, pageCursor, pairs, time } from './response-parts.ts';

const sessionStatus = component(
  'SessionStatus',
  '`running`: a turn runs; `rescheduling`: a model call is retried; `terminated`: the session is closed; `idle`: all others.',
  v.picklist(['rescheduling', 'running', 'idle', 'terminated']),
);

const sessionState: WireSchema<'SessionState'> = component(
  'SessionState',
  'The exact status of a session. `waiting`: every open call waits for somebody.',
  v.picklist(SESSION_STATES),
);

const sessionUsage: WireSchema<'SessionUsage'> = component(
  'SessionUsage',
  'Tokens that a session has used so far.',
  v.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: v.object({
      ephemeral_5m_input_tokens: count,
      ephemeral_1h_input_tokens: count,
    }),
  }),
);

const stats = v.object({ duration_seconds: v.number() });
const lastSeq = field('Number of the last entry of the log.', count);
const nothing = v.pipe(v.array(v.unknown()), v.maxLength(0));

/** A session. */
export const sessionResponse: WireSchema<'Session'> = component(
  'Session',
  'A session at the time of the request. Times are RFC 3339. Later changes come as events.',
  v.object({
    id: v.string(),
    type: v.literal('session'),
    agent: sessionAgentResponse,
    environment_id: v.nullable(v.string()),
    status: sessionStatus,
    state: sessionState,
    paused: field('True until the session is resumed.', v.boolean()),
    pending_count: field('The number of calls that wait for an answer.', count),
    waiting_for: field(
      'What the call that waits longest needs. Null: no call waits.',
      v.nullable(v.picklist(['approval', 'result'])),
    ),
    user_id: field('The user of the session. Clients have that of their workspace.', v.string()),
    forked_from: field(
      'The session that this one was copied from, and where the copy was cut. Null: it is no copy.',
      v.nullable(
        v.object({
          session_id: v.string(),
          up_to_seq: v.nullable(count),
          at_record: v.nullable(count),
        }),
      ),
    ),
    title: v.nullable(v.string()),
    metadata: pairs,
    usage: sessionUsage,
    stats,
    budget: v.null(),
    resources: nothing,
    vault_ids: nothing,
    outcome_evaluations: nothing,
    last_seq: lastSeq,
    created_at: time,
    updated_at: time,
    archived_at: v.nullable(time),
  }),
);

/** A page of sessions. It can be read in both directions. */
export const sessionPage: WireSchema<'SessionPage'> = component(
  'SessionPage',
  'One page of a list that can be read in both directions.',
  v.object({
    data: v.array(sessionResponse),
    next_page: pageCursor,
    prev_page: field(
      'Pass it as `page` to get the previous page. Null on the first page.',
      v.nullable(v.string()),
    ),
  }),
);

/** The response to the deletion of a session. */
export const sessionDeleted: WireSchema<'SessionDeleted'> = deletion(
  'SessionDeleted',
  'session_deleted',
);

/** A thread of a session. */
export const threadResponse: WireSchema<'SessionThread'> = component(
  'SessionThread',
  'The session itself, or the work of one agent that it called.',
  v.object({
    id: v.string(),
    type: v.literal('session_thread'),
    session_id: v.string(),
    parent_thread_id: field('Null for the thread of the session itself.', v.nullable(v.string())),
    agent: threadAgentResponse,
    status: sessionStatus,
    stats,
    usage: sessionUsage,
    workflow_run_id: v.null(),
    last_seq: lastSeq,
    created_at: time,
    updated_at: time,
    archived_at: v.nullable(time),
  }),
);

/** A page of threads. */
export const threadPage: WireSchema<'SessionThreadPage'> = page(
  'SessionThreadPage',
  threadResponse,
);
