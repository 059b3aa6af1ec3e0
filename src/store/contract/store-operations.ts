import { omitUndefined } from '../../core/internal.ts';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { isPetrichorError } from '../../core/index.ts';
import type { SessionActivity, SessionStatus } from '../../core/index.ts';
import type { SettledStep, Store } from '../store.ts';
import {
  AT,
  collect,
  readContent,
  fired,
  NET_HASH,
  sessionKey,
  summary,
  turnStarted,
} from './sample-steps.ts';

// Random operations on a store, and everything that can be read from it, to compare two stores.

const SESSIONS = ['a', 'b', 'c'].map((id) => sessionKey(id, id === 'c' ? 'bob' : 'ada'));
export const OWNERS: readonly string[] = ['one', 'two', 'three'];
const DEDUPE_KEYS = ['k1', 'k2', 'answer:call_1'];
const SHARED_KEYS = ['user:n', 'app:n', 'app:list'];

/** How a step differs from one that would be accepted. `none`: not at all. */
type Deviation = 'none' | 'epoch' | 'step' | 'uid' | 'owner' | 'numbers';

export type Operation =
  | {
      readonly do: 'create';
      readonly session: number;
      readonly owner: number;
      readonly isDue: boolean;
    }
  | {
      readonly do: 'claim';
      readonly session: number;
      readonly owner: number;
      /** The step that the claim expects. Null: any. */
      readonly expectedHead: number | null;
    }
  | { readonly do: 'join'; readonly owner: number }
  | { readonly do: 'leave'; readonly owner: number }
  | {
      readonly do: 'delete';
      readonly session: number;
      /** The step that the deletion expects. Null: any. */
      readonly expectedHead: number | null;
    }
  | { readonly do: 'hydrated'; readonly session: number; readonly ok: boolean }
  | {
      readonly do: 'inject';
      readonly session: number;
      readonly key: number;
      readonly value: string;
    }
  | { readonly do: 'commit'; readonly steps: readonly StepPlan[] };

interface StepPlan {
  readonly session: number;
  readonly deviation: Deviation;
  readonly records: readonly boolean[];
  readonly events: number;
  readonly consumes: number;
  readonly accepts: readonly number[];
  readonly status: SessionStatus;
  readonly activity: SessionActivity;
  readonly inFlight: number;
  readonly nextDueAt: number | null;
  readonly text: string | undefined;
  readonly reads: 'none' | 'right' | 'wrong';
  readonly writes: 'none' | 'set' | 'delete' | 'increment' | 'append';
  readonly sharedKey: number;
}

const session = fc.nat(SESSIONS.length - 1);
const owner = fc.nat(OWNERS.length - 1);
const text = fc.oneof(
  fc.string(),
  // Zero characters and halves of surrogate pairs too.
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', '\udc00', '\ud800'),
  fc.constant('long '.repeat(2500)),
);

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  session,
  deviation: fc.oneof(
    { weight: 12, arbitrary: fc.constant('none' as const) },
    { weight: 5, arbitrary: fc.constantFrom('epoch', 'step', 'uid', 'owner') },
    { weight: 1, arbitrary: fc.constant('numbers' as const) },
  ),
  records: fc.array(fc.boolean(), { maxLength: 3 }),
  events: fc.nat(3),
  consumes: fc.nat(2),
  accepts: fc.uniqueArray(fc.nat(DEDUPE_KEYS.length - 1), { maxLength: 2 }),
  status: fc.constantFrom('queued', 'idle', 'running', 'waiting', 'paused', 'archived'),
  activity: fc.constantFrom('idle', 'running', 'waiting'),
  inFlight: fc.nat(2),
  nextDueAt: fc.option(fc.nat(50).map((ms) => AT + ms)),
  text: fc.option(text, { nil: undefined }),
  reads: fc.constantFrom('none', 'right', 'wrong'),
  writes: fc.constantFrom('none', 'set', 'delete', 'increment', 'append'),
  sharedKey: fc.nat(SHARED_KEYS.length - 1),
});

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      session,
      owner,
      isDue: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      session,
      owner,
      expectedHead: fc.option(fc.nat(3)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('join' as const, 'leave' as const), owner }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      session,
      expectedHead: fc.option(fc.nat(3)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('hydrated' as const), session, ok: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('inject' as const),
      session,
      key: fc.nat(DEDUPE_KEYS.length - 1),
      value: text,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      steps: fc.array(stepPlan, { minLength: 1, maxLength: 3 }),
    }),
  },
);

export async function runOperation(store: Store, one: Operation, index: number): Promise<unknown> {
  const at = AT + index;
  if (one.do === 'join') return store.join(ownerAt(one.owner));
  if (one.do === 'leave') return store.leave(ownerAt(one.owner));
  if (one.do === 'commit') return commit(store, one.steps, at);
  const key = SESSIONS[one.session] ?? assert.fail();
  if (one.do === 'delete') {
    const { uid = 'none' } = (await store.find(key)) ?? {};
    const sessions = one.expectedHead === null ? undefined : [{ uid, head: one.expectedHead }];
    return store.delete(key, sessions && { sessions });
  }
  if (one.do === 'hydrated') return store.recordHydration(key, one.ok);
  if (one.do === 'claim') {
    const { uid = 'none' } = (await store.find(key)) ?? {};
    const expected = one.expectedHead === null ? undefined : { uid, head: one.expectedHead };
    return store.claim(key, ownerAt(one.owner), expected);
  }
  if (one.do === 'create') {
    return store.create(key, {
      agent: 'assistant',
      owner: ownerAt(one.owner),
      at,
      netHash: NET_HASH,
      ...(one.isDue && { nextDueAt: at }),
    });
  }
  return store.inject(key, { place: 'p', value: one.value }, DEDUPE_KEYS[one.key] ?? assert.fail());
}

/** Commits steps in one call. Several steps of one session follow each other. */
async function commit(store: Store, plans: readonly StepPlan[], at: number): Promise<unknown> {
  const steps: SettledStep[] = [];
  const before = new Map<string, { head: number; records: number; events: number }>();
  // An invalid step fails its whole commit, so it is committed alone.
  const fault = plans.find(({ deviation }) => deviation === 'numbers');
  for (const plan of fault === undefined ? plans : [fault]) {
    const key = SESSIONS[plan.session] ?? assert.fail();
    const row = await store.find(key);
    if (row === undefined) continue;
    const from = before.get(row.uid) ?? {
      head: row.head,
      records: (await collect(store.steps(key, 0))).flatMap(({ records }) => records).length,
      events: row.lastSeq,
    };
    const { versions } = await store.shared(key);
    const unread = await store.inbox(key, 0);
    const wrong = plan.deviation === 'numbers' ? 1 : 0;
    steps.push({
      key,
      uid: plan.deviation === 'uid' ? 'another' : row.uid,
      owner: plan.deviation === 'owner' ? 'nobody' : (row.owner ?? ''),
      epoch: plan.deviation === 'epoch' ? row.epoch + 1 : row.epoch,
      step: plan.deviation === 'step' ? from.head + 2 : from.head + 1,
      at,
      records: plan.records.map((lists, index) =>
        fired(from.records + index + 1 + wrong, at - index, lists),
      ),
      events: Array.from({ length: plan.events }, (_, index) =>
        turnStarted(from.events + index + 1 + wrong, at - index, plan.text ?? 'e'),
      ),
      inboxUpTo: unread[plan.consumes - 1]?.inputSeq ?? 0,
      accepts: plan.accepts.map((key) => DEDUPE_KEYS[key] ?? assert.fail()),
      summary: summary({
        status: plan.status,
        activity: plan.activity,
        inFlight: plan.inFlight,
        nextDueAt: plan.nextDueAt,
        pending: plan.text === undefined ? [] : [pendingCall(plan.text)],
      }),
      ...(plan.writes === 'none' ? {} : { shared: toSharedWrites(plan, versions) }),
      ...omitUndefined({ snapshot: plan.text === undefined ? undefined : { text: plan.text } }),
    });
    before.set(row.uid, {
      head: from.head + 1,
      records: from.records + plan.records.length,
      events: from.events + plan.events,
    });
  }
  return store.commit(steps);
}

function toSharedWrites(
  plan: StepPlan,
  versions: Readonly<Record<string, number>>,
): NonNullable<SettledStep['shared']> {
  const key = SHARED_KEYS[plan.sharedKey] ?? assert.fail();
  const version = versions[key] ?? 0;
  const writes = {
    none: {},
    set: { set: { [key]: plan.text ?? null } },
    delete: { delete: [key] },
    increment: { increment: { [key]: plan.events } },
    append: { append: { [key]: [plan.events] } },
  }[plan.writes];
  const reads = { none: {}, right: { [key]: version }, wrong: { [key]: version + 1 } }[plan.reads];
  return { reads, writes: { place: 'state', ...writes } };
}

function pendingCall(callId: string): NonNullable<SettledStep['summary']['pending'][number]> {
  return {
    callId,
    name: 'n',
    args: [callId],
    needs: 'result',
    invocationId: 'e',
    fingerprint: 'f',
    since: AT,
  };
}

export async function captureOutcome(action: () => Promise<unknown>): Promise<unknown> {
  try {
    return { returned: await action() };
  } catch (error) {
    if (!isPetrichorError(error)) throw error;
    return Object.assign({ text: error.message }, error);
  }
}

/** Reads everything from a store. */
export async function readEverything(store: Store): Promise<unknown> {
  const query = { agents: ['assistant'], now: AT + 25, limit: 2 };
  return {
    list: await store.list({}),
    page: await store.list({ userId: 'ada', limit: 1 }),
    work: await Promise.all(OWNERS.map((id) => store.findRunnable({ ...query, owner: id }))),
    // The position has the number of the session, which is different in each store.
    pending: (await store.pendingCalls({ appName: 'app', limit: 9 })).map(
      ({ key, agent, call }) => ({ key, agent, call }),
    ),
    sessions: await Promise.all(
      SESSIONS.map((key) =>
        captureOutcome(async () => [
          await readContent(store, key),
          await collect(store.read(key, 2)),
          await collect(store.listSteps(key, 3)),
        ]),
      ),
    ),
  };
}

function ownerAt(index: number): string {
  return OWNERS[index] ?? assert.fail();
}

/** Creates the same session uids for both stores. */
export function createUidSequence(): () => string {
  let made = 0;
  return () => `uid-${++made}`;
}
