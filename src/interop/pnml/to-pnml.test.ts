import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import {
  all,
  allOf,
  compile,
  effect,
  initialToken,
  many,
  matching,
  net,
  oneOf,
  place,
  pure,
  upTo,
} from '../../net/index.ts';
import { prove, unreachable } from '../../verify/index.ts';
import { fromPnml } from './from-pnml.ts';
import { toPnml } from './to-pnml.ts';

const a = place('a');
const b = place('b');
const c = place('c <&>');

async function canReach(
  document: string,
  marked: Readonly<Record<string, number>>,
): Promise<boolean> {
  const { net: imported, bounds, places } = fromPnml(document);
  const ids = new Map(
    [...document.matchAll(/<place id="(\w+)"><name><text>([^<]*)</g)].map(
      ([, id = '', name = '']) => [
        name.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
        id,
      ],
    ),
  );
  const byId = Object.entries(marked).map(([name, count]) => [
    places.get(ids.get(name) ?? '')?.[0] ?? name,
    count,
  ]);
  const properties = [unreachable(Object.fromEntries(byId))];
  const { results } = await prove(compile(imported), { properties, bounds });
  assert.notEqual(results[0]?.verdict, 'unknown');
  return results[0]?.verdict === 'refuted';
}

test('weights, inhibitors, resets, reads and alternatives are exported', async () => {
  const t = pure('t', {
    take: { two: many(2, a) },
    read: { b },
    unless: [c],
    give: oneOf({ some: upTo(2, c), none: allOf({}) }),
    run: () => ({ none: {} }),
  });
  const clear = pure('clear', {
    take: { every: all(c) },
    reset: [b],
    give: allOf({ a }),
    run: () => ({ a: null }),
  });
  const initial = [initialToken(a, null, 2), initialToken(b, null)];
  const { document, losses } = toPnml(net('n', { transitions: [t, clear], initial }));
  assert.deepEqual(losses, []);
  assert.equal(document.match(/<transition/g)?.length, 5);
  assert.ok(await canReach(document, { 'c <&>': 2, b: 1 }));
  assert.ok(await canReach(document, { 'c <&>': 1 }));
  assert.ok(await canReach(document, { a: 1 }));
  assert.ok(!(await canReach(document, { 'c <&>': 2, a: 1 })));
  assert.ok(!(await canReach(document, { 'c <&>': 3 })));
});

test('an effect is exported with its start, its running place and its ends', async () => {
  const work = effect('work', {
    take: { a },
    give: oneOf({ b, c }),
    concurrency: 1,
    failed: () => ({ c: null }),
    run: async () => ({ b: null }),
  });
  const { document, losses } = toPnml(
    net('n', { transitions: [work], initial: [initialToken(a, null, 2)] }),
  );
  assert.deepEqual(losses, []);
  assert.match(document, /running\(work\)/);
  assert.match(document, /ended work b</);
  assert.ok(await canReach(document, { a: 1, 'running(work)': 1 }));
  assert.ok(!(await canReach(document, { 'running(work)': 2 })));
  assert.ok(await canReach(document, { b: 1, 'c <&>': 1 }));
});

test('what PNML does not have is listed', () => {
  const keyed = place('keyed', v.string());
  const join = pure('join', {
    take: { two: matching(many(2, keyed), (key) => key) },
    give: allOf({}),
    run: () => ({}),
  });
  const { losses } = toPnml(net('n', { in: { keyed }, transitions: [join] }));
  assert.deepEqual(losses, [
    { where: 'join', what: 'takes from "keyed" by key: exported without its key' },
  ]);
});
