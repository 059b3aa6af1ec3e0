import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assertSameMarking, ExecutorHarness, replay } from '../../../test/nets/executor-harness.ts';
import { compile } from '../build/compile.ts';
import { planUpgrade } from '../engine/plan-upgrade.ts';
import { allOf, oneOf } from './arcs.ts';
import { instance } from './compose.ts';
import { net } from './net.ts';
import type { Net } from './net.ts';
import { place } from './place.ts';
import type { PlaceOptions } from './place.ts';
import { effect, pure } from './transition.ts';

interface Names {
  readonly ask: string;
  readonly done: string;
  readonly run: string;
  readonly expire: string;
}

const OLD: Names = { ask: 'job.asked', done: 'job.ran', run: 'job.do', expire: 'job.late' };
const NEW: Names = {
  ask: 'job.requested',
  done: 'job.completed',
  run: 'job.run',
  expire: 'job.expire',
};

/** A job that runs when it was requested, or expires after an hour. A job of its own ends. */
function jobs(names: Names, former?: Names, more: PlaceOptions = {}): Net {
  const formerly = (key: keyof Names): { readonly formerNames: readonly string[] } => ({
    formerNames: former === undefined ? [] : [former[key]],
  });
  const asked = place(names.ask, z.string(), { environment: true, ...formerly('ask') });
  const start = place('job.start', { environment: true });
  const done = place(names.done, z.string(), { ...formerly('done'), ...more });
  return net('jobs', {
    in: { asked },
    transitions: [
      effect(names.run, {
        ...formerly('run'),
        take: { start },
        read: { asked },
        give: oneOf({ done }),
        failed: ({ message }) => ({ done: message }),
        onCrash: 'rerun',
        run: async () => ({ done: '' }),
      }),
      pure(names.expire, {
        ...formerly('expire'),
        take: { asked },
        after: 3_600_000,
        give: allOf({ done }),
        run: ({ asked: job }) => ({ done: `${job} expired` }),
      }),
    ],
  });
}

function startJobs(): ExecutorHarness {
  const harness = new ExecutorHarness(jobs(OLD));
  harness.now = 1_000;
  harness.inject(OLD.ask, 'a');
  harness.inject('job.start');
  harness.settle();
  return harness;
}

test('a session continues under new names with its tokens, clocks and firings, and without a migration', () => {
  const before = startJobs();
  const next = new ExecutorHarness(jobs(NEW, OLD), replay(before.records));
  const upgrade = planUpgrade(next.marking, next.net) ?? assert.fail();
  assert.deepEqual(upgrade.moved, {
    'job.asked': 'job.requested',
    'running(job.do)': 'running(job.run)',
  });
  assert.deepEqual(upgrade.clocks, { '2.0': { 'job.expire': 3_601_000 } });
  next.now = 2_000;
  next.executor.appendSystemRecord(upgrade, next.now);
  next.executor.recover(next.now);
  next.settle();
  const attempt = next.attempt('job.run');
  assert.deepEqual(attempt.tokens, { start: null, asked: 'a' });
  next.finish(attempt, { done: 'ok' });
  next.settle();
  next.settle(3_600_999);
  assert.deepEqual(next.values('job.completed'), ['ok']);
  next.settle(3_601_000);
  assert.deepEqual(next.values('job.completed'), ['ok', 'a expired']);
  next.records.unshift(...before.records);
  assertSameMarking(next.marking, next.records);
});

test('a net that does not know the new names refuses the session by their names', () => {
  const harness = new ExecutorHarness(jobs(NEW, OLD));
  harness.inject(NEW.ask, 'a');
  harness.inject('job.start');
  harness.settle();
  assert.throws(() => planUpgrade(harness.marking, compile(jobs(OLD))), {
    code: 'net_changed',
    places: ['job.requested', 'running(job.run)'],
  });
});

test('a migration sees current names, and moves tokens that were stored under former names', () => {
  const before = new ExecutorHarness(jobs(OLD));
  before.inject(OLD.ask, 'a');
  before.settle();
  before.settle(3_600_000);
  const changed = compile(jobs(NEW, OLD, { version: 2 }));
  const marking = replay(before.records);
  const lost: (readonly string[])[] = [];
  const upgrade = planUpgrade(marking, changed, (places) => {
    lost.push(places);
    return { moved: { [NEW.done]: null } };
  });
  assert.deepEqual(lost, [[NEW.done]]);
  assert.deepEqual(upgrade?.moved, { [OLD.done]: null, [NEW.done]: null });
  // The keys of `moved` may be former names.
  const same = planUpgrade(marking, changed, () => ({ moved: { [OLD.done]: null } }));
  assert.deepEqual(same?.moved, upgrade.moved);
});

test('former names are scoped with their places and transitions', () => {
  const { formerNames } = compile(instance('billing', jobs(NEW, OLD)));
  assert.deepEqual(Object.fromEntries(formerNames.places), {
    'job.asked': 'job.requested',
    'billing/job.ran': 'billing/job.completed',
  });
  assert.deepEqual(Object.fromEntries(formerNames.transitions), {
    'billing/job.do': 'billing/job.run',
    'billing/job.late': 'billing/job.expire',
  });
});

test('the hash of a net does not depend on former names', () => {
  assert.equal(compile(jobs(NEW, OLD)).hash, compile(jobs(NEW)).hash);
});

test('a former name that is a current name, or that two have, does not build', () => {
  assert.throws(
    () => compile(jobs(NEW, { ...OLD, ask: NEW.done })),
    /place "job\.requested" has the former name "job\.completed", which is the name of a place/,
  );
  assert.throws(
    () => compile(jobs(NEW, { ...OLD, ask: OLD.done })),
    /the places "job\.requested" and "job\.completed" have the same former name "job\.ran"/,
  );
  assert.throws(
    () => compile(jobs(NEW, { ...OLD, run: NEW.expire })),
    /transition "job\.run" has the former name "job\.expire", which is the name of a transition/,
  );
  assert.throws(
    () => compile(jobs(NEW, { ...OLD, run: OLD.expire })),
    /the transitions "job\.run" and "job\.expire" have the same former name "job\.late"/,
  );
});
