import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { isJsonObject } from '../../core/index.ts';
import type { SessionActivity, SessionKey } from '../../core/index.ts';
import type { SessionRow, StoredStatus } from '../../store/index.ts';
import { invalidPageError } from '../http/invalid-page-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import {
  drainResponse,
  evictionResponse,
  operatorSessionPage,
  operatorSessionResponse,
} from '../wire/responses/operator-responses.ts';
import { nonEmptyText, pagination, toWireTime } from '../wire/wire-schemas.ts';

const DEFAULT_LIMIT = 20;

/** The route names the activity of a session `status`. */
const STATUSES = ['idle', 'running', 'waiting', 'quarantined'] as const satisfies readonly (
  | SessionActivity
  | StoredStatus
)[];

const list = v.object({
  ...pagination,
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`)),
  workspace: v.optional(nonEmptyText(64)),
});

/** The id of a session that a program made is unique only in its workspace. */
const inWorkspace = v.object({ workspace: v.optional(nonEmptyText(64)) });

/** Routes for operators, over the sessions of all workspaces. They require a key with the scope `operator`. */
export function operatorRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, store } = context;
  /** @throws ManagedSessionNotFoundError */
  const getSessionKey = async (id: string, userId: string | undefined): Promise<SessionKey> => {
    const { owner } = await runtime.getSession(userId === undefined ? id : { id, userId });
    return { ...owner, sessionId: id };
  };
  const readOperatorSession = async (
    key: SessionKey,
  ): Promise<Wire<'OperatorSession'> | { readonly id: string }> => {
    const row = await store.find(key);
    return row === undefined ? { id: key.sessionId } : toOperatorSession(row);
  };
  const readDrain = (): Wire<'Drain'> => {
    if (context.isDrained()) return { type: 'drain', status: 'drained' };
    return { type: 'drain', status: context.draining.aborted ? 'draining' : 'serving' };
  };
  return [
    defineRoute('GET /v1/operator/drain: Whether this server hands over its sessions', {
      response: drainResponse,
      scopes: ['operator'],
      run: async () => readDrain(),
    }),
    defineRoute('POST /v1/operator/drain: Hand over the sessions of this server, and stop it', {
      response: drainResponse,
      scopes: ['operator'],
      run: async () => {
        context.drain();
        return readDrain();
      },
    }),
    defineRoute(
      'GET /v1/operator/sessions: List the sessions of all workspaces, last changed first',
      {
        response: operatorSessionPage,
        scopes: ['operator'],
        query: list,
        run: async ({ query: { limit = DEFAULT_LIMIT, page, status, workspace } }) => {
          const rows = await store.list({
            parent: null,
            limit: limit + 1,
            ...omitUndefined({
              status: status === 'quarantined' ? status : undefined,
              activity: status === 'quarantined' ? undefined : status,
              userId: workspace,
              after: page === undefined ? undefined : parsePageCursor(page),
            }),
          });
          const data = rows.slice(0, limit);
          const last = data.at(-1);
          return {
            data: data.map(toOperatorSession),
            next_page: rows.length > limit && last !== undefined ? toPageCursor(last.key) : null,
          };
        },
      },
    ),
    defineRoute(
      'POST /v1/operator/sessions/{session_id}/evict: Take a session from the process that owns it',
      {
        response: evictionResponse,
        scopes: ['operator'],
        query: inWorkspace,
        run: async ({ params, query: { workspace } }) => {
          const key = await getSessionKey(params('session_id'), workspace);
          const { evicted } = await store.evict(key);
          return { ...(await readOperatorSession(key)), evicted };
        },
      },
    ),
    defineRoute(
      'POST /v1/operator/sessions/{session_id}/unquarantine: Release a quarantined session, so that it runs again',
      {
        response: operatorSessionResponse,
        scopes: ['operator'],
        query: inWorkspace,
        run: async ({ params, query: { workspace } }) => {
          const key = await getSessionKey(params('session_id'), workspace);
          await store.recordHydration(key, true);
          return readOperatorSession(key);
        },
      },
    ),
  ];
}

function toOperatorSession(row: SessionRow): Wire<'OperatorSession'> {
  const { key, agent, owner, epoch, inFlight, failures, lastSeq, pending } = row;
  return {
    id: key.sessionId,
    type: 'operator_session',
    workspace: key.userId,
    agent,
    status: row.status === 'quarantined' ? row.status : row.activity,
    owner,
    epoch,
    in_flight: inFlight,
    failures,
    last_seq: lastSeq,
    waiting_calls: pending.length,
    created_at: toWireTime(row.createdAt),
    updated_at: toWireTime(row.updatedAt),
  };
}

function toPageCursor(key: SessionKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** @throws InvalidInputError */
function parsePageCursor(page: string): SessionKey {
  try {
    const key: unknown = JSON.parse(Buffer.from(page, 'base64url').toString());
    const { appName, userId, sessionId } = isJsonObject(key) ? key : {};
    if (typeof appName === 'string' && typeof userId === 'string' && typeof sessionId === 'string')
      return { appName, userId, sessionId };
  } catch {
    // Throws below.
  }
  throw invalidPageError();
}
