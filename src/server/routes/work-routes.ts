import * as v from 'valibot';
import type { Clock } from '../../net/index.ts';
import type { KeyScopeType } from '../auth/key-scope.ts';
import { notFound } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute, RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component } from '../wire/component.ts';
import {
  workHeartbeat,
  workPage,
  workPollResponse,
  workResponse,
  workStats,
} from '../wire/responses/work-responses.ts';
import {
  mergeMetadata,
  integerParameter,
  metadataChange,
  pagination,
  toWireTime,
} from '../wire/wire-schemas.ts';
import { toWireWork } from '../workers/work-item.ts';
import type { WorkItem } from '../workers/work-item.ts';
import type { WorkClaim } from '../workers/work-queue.ts';
import { getWorkspaceEnvironment } from './stored-environment.ts';

const POLL_INTERVAL_MS = 100;
const TTL_SECONDS = { min: 1, max: 600 };

/** A poll claims work and returns a key for a session, so the scope `read` is not enough. */
const CLAIM_SCOPES: readonly KeyScopeType[] = ['full', 'environment'];
const READ_SCOPES: readonly KeyScopeType[] = ['full', 'read', 'console', 'environment'];
const UPDATE_SCOPES: readonly KeyScopeType[] = ['full', 'environment', 'session'];

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** Routes for work: sessions of a self-hosted environment, whose tools run on workers. */
export function workRoutes(context: ServerContext): readonly HttpRoute[] {
  const { work, clock, closing } = context;

  /** @throws HttpError 404 */
  const getEnvironmentId = async ({ caller, params }: Call): Promise<string> => {
    const id = params('environment_id');
    await getWorkspaceEnvironment(context, caller.workspace, id);
    return id;
  };
  /**
   * A worker's key allows only the work item of its own session.
   * @throws HttpError 404
   */
  const getWorkItem = async (call: Call): Promise<WorkItem> => {
    const item = await work.get(await getEnvironmentId(call), call.params('work_id'));
    const { scope } = call.caller;
    if (scope?.type === 'session' && scope.sessionId !== item.sessionId)
      throw notFound('work', item.id);
    return item;
  };

  return [
    defineRoute(
      'GET /v1/environments/{environment_id}/work/poll: Claim a session that needs a worker',
      {
        response: workPollResponse,
        scopes: CLAIM_SCOPES,
        writes: true,
        query: v.object({
          block_ms: v.optional(integerParameter(1, 999)),
          reclaim_older_than_ms: v.optional(integerParameter(0, 3_600_000)),
        }),
        run: async (call) => {
          const { block_ms = 0, reclaim_older_than_ms: reclaimMs } = call.query;
          const environmentId = await getEnvironmentId(call);
          const deadline = clock.now() + block_ms;
          let claim: WorkClaim | undefined;
          for (;;) {
            claim = await work.claim(call.caller.workspace, environmentId, reclaimMs);
            const remainingMs = deadline - clock.now();
            if (claim !== undefined || remainingMs <= 0 || closing.aborted) break;
            await delay(clock, Math.min(remainingMs, POLL_INTERVAL_MS));
          }
          return claim === undefined ? null : toWireWork(claim.item, claim.secret);
        },
      },
    ),
    defineRoute('GET /v1/environments/{environment_id}/work/stats: Number of waiting work items', {
      response: workStats,
      scopes: READ_SCOPES,
      run: async (call) => work.stats(await getEnvironmentId(call)),
    }),
    defineRoute('GET /v1/environments/{environment_id}/work: List work, newest first', {
      response: workPage,
      scopes: READ_SCOPES,
      query: v.object(pagination),
      run: async (call) => {
        const page = await work.list(await getEnvironmentId(call), call.query, (item) =>
          toWireWork(item),
        );
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/environments/{environment_id}/work/{work_id}: Read a work item', {
      response: workResponse,
      scopes: [...READ_SCOPES, 'session'],
      run: async (call) => toWireWork(await getWorkItem(call)),
    }),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}: Change the metadata of a work item',
      {
        response: workResponse,
        scopes: UPDATE_SCOPES,
        body: component(
          'WorkChange',
          'Changes to a work item.',
          v.object({ metadata: metadataChange }),
        ),
        run: async (call) => {
          const { environmentId, id } = await getWorkItem(call);
          const changed = await work.updateMetadata(environmentId, id, (present) =>
            mergeMetadata(present, call.body.metadata),
          );
          return toWireWork(changed);
        },
      },
    ),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}/ack: Acknowledge a work item',
      {
        response: workResponse,
        scopes: UPDATE_SCOPES,
        run: async (call) => {
          const { environmentId, id } = await getWorkItem(call);
          return toWireWork(await work.acknowledge(environmentId, id));
        },
      },
    ),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}/heartbeat: Renew the lease of a work item',
      {
        response: workHeartbeat,
        errors: [412],
        scopes: UPDATE_SCOPES,
        query: v.object({
          desired_ttl_seconds: v.optional(integerParameter(TTL_SECONDS.min, TTL_SECONDS.max)),
          expected_last_heartbeat: v.optional(v.pipe(v.string(), v.maxLength(64))),
        }),
        run: async (call) => {
          const { environmentId, id } = await getWorkItem(call);
          const { item, extended, ttlSeconds } = await work.heartbeat(environmentId, id, {
            expected: call.query.expected_last_heartbeat,
            ttlSeconds: call.query.desired_ttl_seconds,
            idempotencyKey: call.idempotentRequest.key,
          });
          return {
            type: 'work_heartbeat',
            last_heartbeat: toWireTime(item.heartbeatAt ?? item.createdAt),
            lease_extended: extended,
            state: item.state,
            ttl_seconds: ttlSeconds,
          };
        },
      },
    ),
    defineRoute('POST /v1/environments/{environment_id}/work/{work_id}/stop: Stop a work item', {
      response: workResponse,
      scopes: UPDATE_SCOPES,
      body: component(
        'WorkStopParams',
        '`force`: do not wait for the worker.',
        v.object({ force: v.nullish(v.boolean('must be true or false')) }),
      ),
      run: async (call) => {
        const { environmentId, id } = await getWorkItem(call);
        return toWireWork(await work.stop(environmentId, id, call.body.force === true));
      },
    }),
  ];
}

async function delay(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
