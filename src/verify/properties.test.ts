import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  allOf,
  compile,
  effect,
  initialToken,
  net,
  oneOf,
  optional,
  outlet,
  place,
  pure,
  running,
} from '../net/index.ts';
import type { Transition } from '../net/index.ts';
import {
  bounded,
  canFire,
  costAtMost,
  eventually,
  isolated,
  neverFiresAfter,
  neverStale,
  noStaleCommits,
  precedes,
} from './properties/create-property.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import { formatResult } from './report.ts';
import type { PropertyResult } from './report.ts';
import { InvalidPropertyError, UnknownNameError } from './properties/verify-errors.ts';

const request = place('request', { environment: true });
const asked = place('asked');
const approved = place('approved');
const done = place('done');
const work = place('work');
const generation = place('generation');
const renewal = place('renewal', { environment: true });
const committed = outlet('committed', z.null());

const unused = (): never => {
  throw new Error('a proof runs no transition');
};

async function decide(
  transitions: readonly Transition[],
  property: Property,
  initial: readonly (typeof generation)[] = [],
): Promise<PropertyResult> {
  const { results } = await prove(
    compile(
      net('tested', {
        transitions: [...transitions],
        initial: initial.map((one) => initialToken(one, null)),
      }),
    ),
    { properties: [property], bounds: { faults: 0 }, route: 'search' },
  );
  const [result] = results;
  if (result === undefined) throw new Error('no result');
  return result;
}

const ask = pure('ask', { take: { request }, give: allOf({ asked }), run: unused });
const approve = pure('approve', { take: { asked }, give: allOf({ approved }), run: unused });
const charge = pure('charge', { take: { approved }, give: allOf({ done }), run: unused });

/** A net in which one transition reaches `approved` without an approval. */
const bypass = pure('bypass', { take: { asked }, give: allOf({ approved }), run: unused });

test('precedes: a transition behind its approval is proved, and a way around it is the trace', async () => {
  const property = precedes('approve', 'charge');
  assert.equal((await decide([ask, approve, charge], property)).verdict, 'proved');
  const { verdict, trace } = await decide([ask, bypass, approve, charge], property);
  assert.equal(verdict, 'refuted');
  assert.deepEqual(
    trace?.steps.map(({ transition }) => transition),
    [undefined, 'ask', 'bypass', 'charge'],
  );
});

test('precedes: with `each`, one approval permits one firing', async () => {
  const doubled = pure('double', {
    take: { approved },
    give: allOf({ one: work, two: work }),
    run: unused,
  });
  const spend = pure('charge', { take: { work }, give: allOf({ done }), run: unused });
  const both = [ask, approve, doubled, spend];
  assert.equal((await decide(both, precedes('approve', 'charge'))).verdict, 'proved');
  assert.equal(
    (await decide(both, precedes('approve', 'charge', { each: true }))).verdict,
    'refuted',
  );
});

test('costAtMost: the sum of the costs is bounded per token of a place', async () => {
  const think = pure('think', { take: { request }, give: allOf({ asked }), run: unused });
  const look = pure('look', { take: { asked }, give: allOf({ done }), run: unused });
  const again = pure('look', {
    take: { asked },
    give: oneOf({ more: asked, end: done }),
    run: unused,
  });
  const property = costAtMost({ think: 5, look: 2 }, 7, { per: 'request' });
  assert.equal((await decide([think, look], property)).verdict, 'proved');
  assert.equal((await decide([think, again], property)).verdict, 'refuted');
  assert.equal(
    (await decide([think, look], costAtMost({ think: 5, look: 2 }, 6))).verdict,
    'refuted',
  );
});

test('per and until name several places: each of them counts', async () => {
  const think = pure('think', { take: { request }, give: allOf({ asked }), run: unused });
  const again = pure('look', {
    take: { asked },
    give: oneOf({ more: asked, end: done }),
    run: unused,
  });
  const cost = (per: readonly string[]) => costAtMost({ think: 5, look: 2 }, 5, { per });
  assert.equal((await decide([think, again], cost(['request', 'asked']))).verdict, 'proved');
  assert.equal((await decide([think, again], cost(['request']))).verdict, 'refuted');

  const never = (until: readonly string[]) => neverFiresAfter('look', 'request', { until });
  assert.equal((await decide([think, again], never(['think', 'done']))).verdict, 'proved');
  assert.equal((await decide([think, again], never(['done', 'asked']))).verdict, 'proved');
  assert.equal((await decide([think, again], never(['done']))).verdict, 'refuted');
  assert.throws(() => never([]), InvalidPropertyError);
});

test('bounded: a place that grows is found, whichever it is', async () => {
  const grow = effect('grow', {
    take: { asked },
    give: allOf({ asked, extra: work }),
    failed: unused,
    run: unused,
  });
  assert.equal((await decide([ask, approve], bounded(1))).verdict, 'proved');
  const { verdict, trace } = await decide([ask, grow], bounded(3));
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.marking['work'], 4);
});

test('eventually: a fair loop ends, and a loop without a way out is the trace', async () => {
  const poll = pure('poll', {
    take: { asked },
    give: oneOf({ again: work, ready: done }),
    run: unused,
  });
  const back = effect('back', {
    take: { work },
    give: allOf({ asked }),
    failed: unused,
    run: unused,
  });
  const property = eventually('done', { after: 'request' });
  assert.equal((await decide([ask, poll, back], property)).verdict, 'proved');
  const blind = pure('poll', { take: { asked }, give: allOf({ again: work }), run: unused });
  const { verdict, trace } = await decide([ask, blind, back, charge], property);
  assert.equal(verdict, 'refuted');
  assert.equal(typeof trace?.circleFrom, 'number');
  assert.deepEqual(
    new Set(trace?.steps.slice(trace.circleFrom).map(({ transition }) => transition)),
    new Set(['poll', 'back']),
  );
});

test('eventually: a net that stops early is refuted, unless it may wait there', async () => {
  assert.equal(
    (await decide([ask, charge], eventually('done', { after: 'request' }))).verdict,
    'refuted',
  );
  const waiting = { after: 'request', resting: [{ marked: ['asked'] }] };
  assert.equal((await decide([ask, charge], eventually('done', waiting))).verdict, 'proved');
});

test('eventually: a step that depends on an input from outside is not counted on', async () => {
  const retry = effect('retry', {
    take: { asked },
    give: allOf({ asked }),
    failed: unused,
    run: unused,
  });
  const end = pure('end', { take: { asked, renewal }, give: allOf({ done }), run: unused });
  const { verdict } = await decide([ask, retry, end], eventually('done', { after: 'request' }));
  assert.equal(verdict, 'refuted');
});

test('canFire: names the transitions that never fire, without a trace', async () => {
  const found = await decide([ask, approve], canFire('ask', 'approve'));
  assert.match(
    formatResult(found, []).join(),
    /can fire: proved for some declared outcomes and times \(/,
  );
  const { verdict, reason, trace } = await decide([ask, charge], canFire('ask', 'charge'));
  assert.deepEqual([verdict, reason, trace], ['refuted', 'never fires: charge', undefined]);
});

const start = effect('start', {
  take: { request },
  read: { generation },
  give: allOf({ work }),
  failed: unused,
  run: unused,
});
const renew = pure('renew', {
  take: { renewal, generation },
  give: allOf({ generation }),
  run: unused,
});
const commit = pure('commit', {
  take: { work },
  read: { generation },
  give: oneOf({ fresh: committed, stale: done }),
  run: unused,
});
const quickCommit = pure('commit.quickly', {
  take: { work },
  give: allOf({ committed }),
  run: unused,
});

test('noStaleCommits: commits that read the generation hold by their arcs', async () => {
  const { verdict, by } = await decide([start, renew, commit], noStaleCommits(), [generation]);
  assert.deepEqual([verdict, by], ['proved', 'the arcs: every commit reads the latest generation']);
});

const effectCommit = effect('commit.slowly', {
  take: { work },
  read: { generation },
  retry: { attempts: 2, backoff: '1s..2s' },
  give: oneOf({ fresh: committed, stale: done }),
  failed: unused,
  run: unused,
});

test('noStaleCommits: an effect that reads the generation at its start commits what is stale at its end', async () => {
  const { verdict, trace } = await decide([start, renew, effectCommit], noStaleCommits(), [
    generation,
  ]);
  assert.equal(verdict, 'refuted');
  const names = trace?.steps.map(({ transition }) => transition) ?? [];
  assert.deepEqual(names.slice(-2), ['renew', 'commit.slowly']);
});

test('noStaleCommits: a net without a generation has no commit that reads one', async () => {
  const { verdict, by } = await decide([start, renew, quickCommit], noStaleCommits(), [generation]);
  assert.deepEqual(
    [verdict, by],
    ['proved', 'the arcs: no transition reads a generation before it commits'],
  );
});

test('noStaleCommits: a commit without a read is refuted by work that is older than the generation', async () => {
  const { verdict, trace } = await decide([start, renew, quickCommit, commit], noStaleCommits(), [
    generation,
  ]);
  assert.equal(verdict, 'refuted');
  const names = trace?.steps.map(({ transition }) => transition) ?? [];
  assert.equal(names.at(-1), 'commit.quickly');
  assert.ok(names.indexOf('start') < names.indexOf('renew'));
});

test('noStaleCommits: a commit of work that passed through an initially marked place is refuted', async () => {
  const slot = place('slot');
  const store = pure('store', {
    priority: 1,
    take: { work, slot },
    give: allOf({ slot }),
    run: unused,
  });
  const flush = pure('flush', { take: { slot }, give: allOf({ committed }), run: unused });
  const { verdict, trace } = await decide([start, renew, store, flush, commit], noStaleCommits(), [
    generation,
    slot,
  ]);
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.steps.at(-1)?.transition, 'flush');
});

test('noStaleCommits: a commit of work that passed through an input from outside is refuted', async () => {
  const again = place('again', { environment: true });
  const put = pure('put', { priority: 1, take: { work }, give: allOf({ again }), run: unused });
  const flush = pure('flush', { take: { again }, give: allOf({ committed }), run: unused });
  const { verdict } = await decide([start, renew, put, flush, commit], noStaleCommits(), [
    generation,
  ]);
  assert.equal(verdict, 'refuted');
});

test('noStaleCommits: a permit beside the work is no work', async () => {
  const permit = place('permit');
  const begin = pure('begin', { take: { permit, request }, give: allOf({ asked }), run: unused });
  const send = effect('send', {
    take: { asked },
    read: { generation },
    give: allOf({ work }),
    failed: unused,
    run: unused,
  });
  const dropping = pure('renew', {
    take: { renewal, generation },
    reset: [work, asked],
    unless: [running(send)],
    give: allOf({ generation }),
    run: unused,
  });
  const end = pure('commit.quickly', {
    priority: 1,
    take: { work },
    give: allOf({ committed, permit }),
    run: unused,
  });
  const { verdict, by } = await decide([begin, send, dropping, end, commit], noStaleCommits(), [
    generation,
    permit,
  ]);
  assert.deepEqual([verdict, by], ['proved', 'search']);
});

test('noStaleCommits: a renewal that commits without a check is refuted', async () => {
  const renewAndCommit = pure('renew.commit', {
    take: { generation, work },
    give: allOf({ generation, committed }),
    run: unused,
  });
  const { verdict, trace } = await decide(
    [start, renew, renewAndCommit, commit],
    noStaleCommits(),
    [generation],
  );
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.steps.at(-1)?.transition, 'renew.commit');
});

test('noStaleCommits: a commit that reads the generation but cannot skip is refuted', async () => {
  const log = place('log');
  const logged = pure('commit.log', {
    take: { work },
    read: { generation },
    give: oneOf({ both: allOf({ committed, log }), only: committed }),
    run: unused,
  });
  const { verdict } = await decide([start, renew, logged, commit], noStaleCommits(), [generation]);
  assert.equal(verdict, 'refuted');
});

test('neverStale: an effect renews when it ends, so work that begins before is stale', async () => {
  const slowly = effect('renew', {
    take: { renewal, generation },
    give: allOf({ generation }),
    failed: unused,
    run: unused,
  });
  const property = neverStale('commit.quickly', { renewals: ['renew'], work: ['work'] });
  const begin = pure('start', {
    take: { request },
    unless: [generation],
    give: allOf({ work }),
    run: unused,
  });
  const wait = pure('commit.quickly', {
    take: { work },
    read: { generation },
    give: allOf({ committed }),
    run: unused,
  });
  const { verdict } = await decide([begin, slowly, wait], property, [generation]);
  assert.equal(verdict, 'refuted');
});

test('noStaleCommits: an unchecked commit is proved if a renewal drops all work', async () => {
  const dropping = pure('renew', {
    take: { renewal, generation },
    reset: [work],
    give: allOf({ generation }),
    run: unused,
  });
  const begin = pure('start', {
    take: { request },
    read: { generation },
    give: allOf({ work }),
    run: unused,
  });
  const { verdict, by } = await decide([begin, dropping, quickCommit, commit], noStaleCommits(), [
    generation,
  ]);
  assert.equal(verdict, 'proved');
  assert.match(by, /^search/);
});

const inA = place('a/in', { environment: true });
const inB = place('b/in', { environment: true });
const outA = outlet('a/out', z.null());
const outB = outlet('b/out', z.null());
const shared = place('shared');
const runA = pure('a/run', {
  take: { inA },
  give: allOf({ outA, shared: optional(shared) }),
  run: unused,
});

test('isolated: parts without a common place hold by their arcs', async () => {
  const runB = pure('b/run', { take: { inB }, give: allOf({ outB }), run: unused });
  const { verdict, by } = await decide([runA, runB], isolated('a', 'b'));
  assert.deepEqual([verdict, by], ['proved', 'the arcs: no transition joins the parts']);
});

test('isolated: an arc to the other part, or to a place that it fills, is a violation if it fires', async () => {
  const direct = pure('b/run', { take: { inA }, give: allOf({ outB }), run: unused });
  assert.equal((await decide([direct, runA], isolated('a', 'b'))).verdict, 'refuted');
  const through = pure('b/run', { take: { shared }, give: allOf({ outB }), run: unused });
  assert.equal((await decide([runA, through], isolated('a', 'b'))).verdict, 'refuted');
  const declared = isolated('a', 'b', { through: ['shared'] });
  assert.equal((await decide([runA, through], declared)).verdict, 'proved');
  const dead = pure('b/run', { take: { inA, work }, give: allOf({ outB }), run: unused });
  const { verdict, by } = await decide([runA, dead], isolated('a', 'b'));
  assert.equal(verdict, 'proved');
  assert.match(by, /^search/);
});

test('isolated: what a transition of neither part carries over is a violation, and so is a shared resource', async () => {
  const carry = pure('carry', { take: { shared }, give: allOf({ inB }), run: unused });
  const runB = pure('b/run', { take: { inB }, give: allOf({ outB }), run: unused });
  assert.equal((await decide([runA, carry, runB], isolated('a', 'b'))).verdict, 'refuted');
  const declared = isolated('a', 'b', { through: ['shared'] });
  assert.equal((await decide([runA, carry, runB], declared)).verdict, 'proved');
  const takes = (name: string): Transition =>
    pure(name, { take: { request }, give: allOf({}), run: unused });
  const both = [takes('a/take'), takes('b/take')];
  assert.equal((await decide(both, isolated('a', 'b'))).verdict, 'refuted');
  const allowed = isolated('a', 'b', { through: ['request'] });
  assert.equal((await decide(both, allowed)).verdict, 'proved');
});

test('isolated: a transition that watches the effect of one part carries over to the other', async () => {
  const input = place('a/in', { environment: true });
  const seen = place('seen');
  const work = effect('a/work', {
    take: { input },
    give: allOf({ answer: place('a/done') }),
    failed: unused,
    run: unused,
  });
  const watch = pure('watch', {
    take: { request },
    read: { work: running(work) },
    give: allOf({ seen }),
    run: unused,
  });
  const follow = pure('b/follow', {
    take: { seen },
    give: allOf({ end: place('b/done') }),
    run: unused,
  });
  const { verdict } = await decide([work, watch, follow], isolated('a', 'b'));
  assert.equal(verdict, 'refuted');
});

test('noStaleCommits: work that waits before an effect, and work that is read, is followed', async () => {
  const [queued, stop] = [place('queued'), place('stop', { environment: true })];
  const queue = pure('queue', { take: { request }, give: allOf({ queued }), run: unused });
  const send = effect('send', {
    take: { queued },
    give: allOf({ sent: place('sent') }),
    failed: unused,
    run: unused,
  });
  const salvage = pure('salvage', {
    take: { stop, sending: running(send) },
    give: allOf({ committed }),
    run: unused,
  });
  const again = pure('again', { take: { queued }, give: allOf({ work }), run: unused });
  const taken = await decide([queue, send, salvage, again, renew, commit], noStaleCommits(), [
    generation,
  ]);
  assert.equal(taken.verdict, 'refuted');
  const peek = pure('peek', {
    take: { stop },
    read: { work },
    give: allOf({ committed }),
    run: unused,
  });
  const read = await decide([start, renew, peek, commit], noStaleCommits(), [generation]);
  assert.equal(read.verdict, 'refuted');
});

test('a part, a place or a count that does not exist is an error', async () => {
  await assert.rejects(decide([runA], isolated('a', 'c')), UnknownNameError);
  await assert.rejects(decide([runA, ask], isolated('a', 'a2')), /no part "a2": it has a/);
  assert.throws(() => isolated('a', 'a'), InvalidPropertyError);
  assert.throws(() => costAtMost({}, 1), InvalidPropertyError);
  assert.throws(() => costAtMost({ a: -1 }, 1), /costs\["a"\] must be an integer of at least 0/);
  assert.throws(() => eventually([]), InvalidPropertyError);
  assert.throws(() => canFire(), InvalidPropertyError);
  assert.throws(() => precedes('a', []), InvalidPropertyError);
  assert.throws(() => bounded(-1), InvalidPropertyError);
});
