import * as v from 'valibot';
import type { Clock } from '../net/index.ts';
import { environmentOf } from './environment-routes.ts';
import type { KeyScopeType } from './key-scope.ts';
import { defineRoute } from './route.ts';
import type { Route, RouteCall } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { notFound } from './wire-error.ts';
import { changedMetadata, count, metadataChange, paging, toWireTime } from './wire-schemas.ts';
import { toWireWork } from './work-item.ts';
import type { WorkItem } from './work-item.ts';
import type { WorkClaim } from './work-queue.ts';

const POLL_AGAIN_MS = 100;
const TTL_SECONDS = { least: 1, most: 600 };

/** A poll takes work and gives out the key of a session: to read is not enough. */
const TAKES_WORK: readonly KeyScopeType[] = ['full', 'environment'];
const READS_WORK: readonly KeyScopeType[] = ['full', 'read', 'environment'];
const SERVES_WORK: readonly KeyScopeType[] = ['full', 'environment', 'session'];

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** Work: sessions of a self-hosted environment, given to workers on other machines, which run their tools. */
export function workRoutes(parts: ServerParts): readonly Route[] {
  const { work, clock, closing } = parts;

  /** @throws WireError 404 */
  const placeOf = async ({ caller, params }: Call): Promise<string> => {
    const id = params('environment_id');
    await environmentOf(parts, caller.workspace, id);
    return id;
  };
  /** A worker that was given one session asks for that one only. @throws WireError 404 */
  const workOf = async (call: Call): Promise<WorkItem> => {
    const item = await work.get(await placeOf(call), call.params('work_id'));
    const { scope } = call.caller;
    if (scope?.type === 'session' && scope.sessionId !== item.sessionId)
      throw notFound('work', item.id);
    return item;
  };

  return [
    defineRoute(
      'GET /v1/environments/{environment_id}/work/poll: Take a session that wants a worker',
      {
        scopes: TAKES_WORK,
        query: v.object({
          block_ms: v.optional(count(1, 999)),
          reclaim_older_than_ms: v.optional(count(0, 3_600_000)),
        }),
        run: async (call) => {
          const { block_ms = 0, reclaim_older_than_ms: reclaimMs } = call.query;
          const place = await placeOf(call);
          const until = clock.now() + block_ms;
          let claim: WorkClaim | undefined;
          for (;;) {
            claim = await work.claim(call.caller.workspace, place, reclaimMs);
            const left = until - clock.now();
            if (claim !== undefined || left <= 0 || closing.aborted) break;
            await later(clock, Math.min(left, POLL_AGAIN_MS));
          }
          return claim === undefined ? null : toWireWork(claim.item, claim.secret);
        },
      },
    ),
    defineRoute('GET /v1/environments/{environment_id}/work/stats: How much work waits', {
      scopes: READS_WORK,
      run: async (call) => work.stats(await placeOf(call)),
    }),
    defineRoute('GET /v1/environments/{environment_id}/work: List work, newest first', {
      scopes: READS_WORK,
      query: v.object(paging),
      run: async (call) => {
        const page = await work.list(await placeOf(call), call.query, (item) => toWireWork(item));
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/environments/{environment_id}/work/{work_id}: Read a work item', {
      scopes: [...READS_WORK, 'session'],
      run: async (call) => toWireWork(await workOf(call)),
    }),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}: Change the metadata of a work item',
      {
        scopes: SERVES_WORK,
        body: v.object({ metadata: metadataChange }),
        run: async (call) => {
          const { environmentId, id } = await workOf(call);
          const changed = await work.describe(environmentId, id, (present) =>
            changedMetadata(present, call.body.metadata),
          );
          return toWireWork(changed);
        },
      },
    ),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}/ack: Say that a worker has it',
      {
        scopes: SERVES_WORK,
        run: async (call) => {
          const { environmentId, id } = await workOf(call);
          return toWireWork(await work.acknowledge(environmentId, id));
        },
      },
    ),
    defineRoute(
      'POST /v1/environments/{environment_id}/work/{work_id}/heartbeat: Say that its worker is alive',
      {
        scopes: SERVES_WORK,
        query: v.object({
          desired_ttl_seconds: v.optional(count(TTL_SECONDS.least, TTL_SECONDS.most)),
          expected_last_heartbeat: v.optional(v.pipe(v.string(), v.maxLength(64))),
        }),
        run: async (call) => {
          const { environmentId, id } = await workOf(call);
          const { item, extended, ttlSeconds } = await work.heartbeat(environmentId, id, {
            expected: call.query.expected_last_heartbeat,
            ttlSeconds: call.query.desired_ttl_seconds,
            attempt: call.attempt,
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
      scopes: SERVES_WORK,
      body: v.object({ force: v.nullish(v.boolean('must be true or false')) }),
      run: async (call) => {
        const { environmentId, id } = await workOf(call);
        return toWireWork(await work.stop(environmentId, id, call.body.force === true));
      },
    }),
  ];
}

async function later(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
