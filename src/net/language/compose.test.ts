import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { all, allOf, each, oneOf } from './arcs.ts';
import { compile } from '../build/compile.ts';
import { compose, instance, join } from './compose.ts';
import { faultPlace } from './fault.ts';
import { NetBuildError } from './net-errors.ts';
import { initialToken, net } from './net.ts';
import type { Net } from './net.ts';
import { listPlace, place } from './place.ts';
import type { TokenPlace } from './place.ts';
import { effect, pure, running } from './transition.ts';

const Job = z.object({ id: z.string() });
type Job = z.infer<typeof Job>;
const job = place('work.job', Job, { environment: true, version: 1 });
const done = place('work.done', z.string(), { version: 1 });
const told = place('report.told', z.string());

/** Processes each job in a private place. */
function worker(mark = '!'): Net<{ job: TokenPlace<Job> }, { done: TokenPlace<string> }> {
  const desk = place('work.desk', Job);
  return net('worker', {
    in: { job },
    out: { done },
    transitions: [
      pure('work.pick', {
        take: { job },
        give: oneOf({ desk }),
        run: ({ job }) => ({ desk: job }),
      }),
      pure('work.do', {
        take: { desk },
        give: oneOf({ done }),
        run: ({ desk }) => ({ done: desk.id + mark }),
      }),
    ],
  });
}

const reporter = (renamedJob = done): Net =>
  net('reporter', {
    in: { heard: renamedJob },
    transitions: [
      pure('report.tell', {
        take: { heard: renamedJob },
        give: oneOf({ told }),
        run: ({ heard: renamedJob }) => ({ told: `told ${renamedJob}` }),
      }),
    ],
  });

function listProblems(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    assert.ok(error instanceof NetBuildError);
    return error.problems;
  }
  return [];
}

test('ports with the same name are one place', () => {
  const harness = new ExecutorHarness(compose('office', { nets: [worker(), reporter()] }));
  harness.inject(job, { id: 'a' });
  harness.settle();
  assert.deepEqual(harness.values(told), ['told a!']);
});

test('a composition of ports with the same name and different schemas does not build', () => {
  const other = place('work.done', z.string(), { version: 2 });
  const office = compose('office', { nets: [worker(), reporter(other)] });
  assert.match(listProblems(() => compile(office)).join(), /"work.done" has two schemas/);
});

test('a join merges ports with different names into one place', () => {
  const renamedJob = place('report.heard', z.string(), { version: 1 });
  const office = compose('office', {
    nets: [worker(), reporter(renamedJob)],
    join: [join(done, renamedJob)],
  });
  const harness = new ExecutorHarness(office);
  harness.inject(job, { id: 'a' });
  harness.settle();
  assert.deepEqual(harness.values(told), ['told a!']);
  assert.equal(harness.net.places.has('report.heard'), false);
});

test('a join can lead to another join', () => {
  const middle = place('middle', z.string(), { version: 1 });
  const renamedJob = place('report.heard', z.string(), { version: 1 });
  const relay = net('relay', { in: { middle }, transitions: [] });
  const office = compose('office', {
    nets: [worker(), relay, reporter(renamedJob)],
    join: [join(middle, renamedJob), join(done, middle)],
  });
  const harness = new ExecutorHarness(office);
  harness.inject(job, { id: 'a' });
  harness.settle();
  assert.deepEqual(harness.values(told), ['told a!']);
});

test('a join is rejected if its places differ in schema or kind, if one is not a port, if it repeats, or if it forms a cycle', () => {
  const renamedJob = place('report.heard', z.string());
  const list = listPlace('report.list', z.string(), { version: 1 });
  const nets = [worker(), reporter(renamedJob)];
  const problems = (...joins: ReturnType<typeof join>[]): string =>
    listProblems(() => compose('office', { nets, join: joins })).join();
  assert.match(
    problems(join(done, renamedJob)),
    /"work.done" and "report.heard" cannot be one place, because they have different schemas/,
  );
  assert.match(
    problems({ kept: list, replaced: done }),
    /one is a list place and the other a tokens place/,
  );
  assert.match(
    problems(join(done, told)),
    /join: "report.told" is not a port of "worker", "reporter"/,
  );
  assert.match(problems(join(done, done), join(done, done)), /is replaced twice/);
  assert.match(problems(join(renamedJob, done), join(done, renamedJob)), /with itself/);
});

test('a place that is not a port is private, and its use outside its net is rejected', () => {
  const desk = place('work.desk', Job);
  const thief = pure('steal', { take: { desk }, give: allOf({}), run: () => ({}) });
  const private_ = /place "work.desk" is private to "worker"/;
  const fromNet = listProblems(() =>
    compose('office', { nets: [worker(), net('thief', { transitions: [thief] })] }),
  );
  assert.match(fromNet.join(), private_);
  const fromOwn = listProblems(() => compose('office', { nets: [worker()], transitions: [thief] }));
  assert.match(fromOwn.join(), /private to "worker" but the composition also uses it/);
  const asPort = listProblems(() => compose('office', { nets: [worker()], out: { desk } }));
  assert.match(asPort.join(), private_);
  const filled = listProblems(() =>
    compose('office', { nets: [worker()], initial: [initialToken(desk, { id: 'x' })] }),
  );
  assert.match(filled.join(), private_);
});

test('a port that a composition does not declare is private to the composition', () => {
  const inner = compose('inner', { nets: [worker(), reporter()], in: { job } });
  const listen = pure('listen', { take: { done }, give: allOf({}), run: () => ({}) });
  const problems = listProblems(() => compose('outer', { nets: [inner], transitions: [listen] }));
  assert.match(problems.join(), /place "work.done" is private to "inner"/);
});

test('two instances of one net share only their ports', () => {
  const office = compose('office', {
    nets: [instance('left', worker('<')), instance('right', worker('>')), reporter()],
  });
  const { places, byName } = compile(office);
  assert.ok(
    places.has('left/work.desk') && places.has('right/work.desk') && !places.has('work.desk'),
  );
  assert.ok(byName.has('left/work.do') && byName.has('right/work.do'));
  const harness = new ExecutorHarness(office);
  for (const id of ['a', 'b']) harness.inject(job, { id });
  harness.settle();
  assert.deepEqual(harness.values(told), ['told a<', 'told b<']);
});

test('an instance can have other ports than its net', () => {
  const first = place('first.done', z.string(), { version: 1 });
  const again = place('again.job', Job, { version: 1 });
  const twice = compose('twice', {
    nets: [
      instance('first', worker('1'), { done: first }),
      instance('second', worker('2'), { job: again }),
    ],
    transitions: [
      pure('again', {
        take: { first },
        give: oneOf({ again }),
        run: ({ first: id }) => ({ again: { id } }),
      }),
    ],
  });
  const harness = new ExecutorHarness(twice);
  harness.inject(job, { id: 'a' });
  harness.settle();
  assert.deepEqual(harness.values(done), ['a12']);
});

test('a port of an instance can be replaced only with a compatible place', () => {
  const other = place('other.done', z.string());
  const problems = listProblems(() => instance('left', worker(), { done: other }));
  assert.match(problems.join(), /"other.done" and "work.done" cannot be one place/);
});

test('an instance renames its effects and the arcs to their firings', () => {
  const call = place('call', z.string(), { environment: true });
  const stop = place('stop', { environment: true });
  const ended = place('ended', z.string());
  const run = effect('run', {
    take: { call },
    give: oneOf({ ended }),
    failed: () => ({ ended: 'failed' }),
    run: async () => ({ ended: 'ok' }),
  });
  const cancel = pure('cancel', {
    take: { stop, firings: all(running(run)) },
    give: allOf({ ended: each('firings', ended) }),
    run: ({ firings }) => ({ ended: firings.map(({ inputs }) => `stopped ${inputs.call}`) }),
  });
  const caller = net('caller', { in: { call, stop }, out: { ended }, transitions: [run, cancel] });
  const harness = new ExecutorHarness(
    compose('two', { nets: [instance('x', caller), instance('y', caller)] }),
  );
  harness.inject(call, 'a');
  harness.settle();
  harness.inject(stop);
  harness.settle();
  assert.deepEqual(harness.values(ended), ['stopped a']);
});

test('faults of every subnet and instance go to one place', () => {
  const handled = place('handled', z.string());
  const bad = place('bad', { environment: true });
  const thrower = net('thrower', {
    in: { bad },
    transitions: [
      pure('throw', {
        take: { bad },
        give: allOf({}),
        run: () => {
          throw new Error('no');
        },
      }),
    ],
  });
  const keeper = net('keeper', {
    out: { handled },
    transitions: [
      pure('keep', {
        take: { fault: faultPlace },
        give: oneOf({ handled }),
        run: ({ fault }) => ({ handled: fault.transition }),
      }),
    ],
  });
  const nets = [instance('x', thrower), instance('k', keeper), net('idle', { transitions: [] })];
  const harness = new ExecutorHarness(compose('all', { nets }));
  harness.inject(bad);
  harness.settle();
  assert.deepEqual(harness.values(handled), ['x/throw']);
});

test('a subnet is replaced by another with the same ports', () => {
  const office = (subnet: Net): Net => compose('office', { nets: [subnet, reporter()] });
  const shout = net('worker', {
    in: { job },
    out: { done },
    transitions: [
      pure('work.shout', {
        take: { job },
        give: oneOf({ done }),
        run: ({ job }) => ({ done: job.id.toUpperCase() }),
      }),
    ],
  });
  const values = [worker(), shout].map((subnet) => {
    const harness = new ExecutorHarness(office(subnet));
    harness.inject(job, { id: 'a' });
    harness.settle();
    return harness.values(told);
  });
  assert.deepEqual(values, [['told a!'], ['told A']]);
});

test('the clusters of a composition nest like its subnets', () => {
  const inner = compose('inner', { nets: [worker()], in: { job }, out: { done } });
  const { clusters } = compile(compose('outer', { nets: [instance('i', inner), reporter()] }));
  assert.deepEqual(clusters, [
    {
      name: 'i',
      transitions: [],
      clusters: [{ name: 'i/worker', transitions: ['i/work.pick', 'i/work.do'], clusters: [] }],
    },
    { name: 'reporter', transitions: ['report.tell'], clusters: [] },
  ]);
});
