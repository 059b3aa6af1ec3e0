import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, jsonObject, page, time } from './response-parts.ts';

const fields = {
  id: v.string(),
  type: v.literal('operator_session'),
  workspace: v.string(),
  agent: v.string(),
  status: v.picklist(['idle', 'running', 'waiting', 'quarantined']),
  owner: field('The process that owns the session. Null: none.', v.nullable(v.string())),
  epoch: field('Grows by 1 with each change of the owner.', count),
  in_flight: field('Effects that may be running.', count),
  failures: field('Failed attempts in a row to load the session.', count),
  last_seq: field('Number of the last entry of the log.', count),
  waiting_calls: field('Calls that wait for an answer.', count),
  created_at: time,
  updated_at: time,
};

const operatorSession: WireSchema<'OperatorSession'> = component(
  'OperatorSession',
  'A session as its operator sees it.',
  v.object(fields),
);

/** A session that was deleted while the operator's request ran has only its id. */
export const operatorSessionResponse: v.GenericSchema<
  unknown,
  v.InferOutput<typeof operatorSession> | { readonly id: string }
> = v.union([operatorSession, v.object({ id: v.string() })]);

/** A page of sessions of all workspaces. */
export const operatorSessionPage: WireSchema<'OperatorSessionPage'> = page(
  'OperatorSessionPage',
  operatorSession,
);

const evicted = field('The process that owned the session. Null: none.', v.nullable(v.string()));

/** The response to an eviction. */
export const evictionResponse: WireSchema<'Eviction'> = component(
  'Eviction',
  'The session after the eviction. A session that was deleted meanwhile has only its id.',
  v.union([v.object({ ...fields, evicted }), v.object({ id: v.string(), evicted })]),
);

/** Whether a server hands over its sessions. */
export const drainResponse: WireSchema<'Drain'> = component(
  'Drain',
  'Whether the server that answers hands over its sessions. `drained`: it has none any more.',
  v.object({
    type: v.literal('drain'),
    status: v.picklist(['serving', 'draining', 'drained']),
  }),
);

/** The health of the server. */
export const healthResponse: WireSchema<'Health'> = component(
  'Health',
  'The server and its store work.',
  v.object({
    status: v.literal('ok'),
    durability: field(
      'What survives the death of the process. `process`: nothing. `crash`: every acknowledged write.',
      v.picklist(['process', 'crash']),
    ),
  }),
);

/** The process answers. */
export const livenessResponse: WireSchema<'Liveness'> = component(
  'Liveness',
  'The process of the server answers.',
  v.object({ status: v.literal('ok') }),
);

/** The server accepts requests. */
export const readinessResponse: WireSchema<'Readiness'> = component(
  'Readiness',
  'The server accepts requests of all kinds, and its store works.',
  v.object({ status: v.literal('ready') }),
);

/** This document. */
export const documentResponse: v.GenericSchema<
  unknown,
  Readonly<Record<string, unknown>>
> = jsonObject;
