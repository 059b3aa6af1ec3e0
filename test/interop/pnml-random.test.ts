import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { fromPnml, toPnml } from '../../src/interop/pnml/index.ts';
import { compile } from '../../src/net/index.ts';
import type { CompiledNet } from '../../src/net/index.ts';
import { deadlockFree, prove, unreachable } from '../../src/verify/index.ts';
import type { Bounds } from '../../src/verify/index.ts';
import { reachableMarkings } from '../../src/verify/search/search.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { TransitionSystem } from '../../src/verify/system/transition-system.ts';
import { document } from '../verify/contest/contest-net.ts';

const PLACES = 4;
const MOST_MARKINGS = 250;

/** What a transition does with a place: tokens that it takes and gives, and the other arcs. */
interface Effect {
  readonly take: number;
  readonly give: number;
  readonly other: 'inhibitor' | 'reset' | 'read' | 'none';
}

interface RandomNet {
  readonly marking: readonly number[];
  /** By transition, by place. */
  readonly transitions: readonly (readonly Effect[])[];
}

const effect: fc.Arbitrary<Effect> = fc
  .record({
    take: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 2 })),
    give: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 2 })),
    other: fc.oneof(
      { weight: 6, arbitrary: fc.constant('none' as const) },
      fc.constantFrom('inhibitor' as const, 'reset' as const, 'read' as const),
    ),
  })
  // A transition that takes from a place and reads it or is inhibited by it is refused.
  .map((one) => (one.take > 0 && one.other !== 'reset' ? { ...one, other: 'none' as const } : one));

const randomNet: fc.Arbitrary<RandomNet> = fc.record({
  marking: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: PLACES, maxLength: PLACES }),
  transitions: fc.array(fc.array(effect, { minLength: PLACES, maxLength: PLACES }), {
    minLength: 1,
    maxLength: 5,
  }),
});

function toDocument({ marking, transitions }: RandomNet): string {
  const arc = (source: string, target: string, weight: number, type = 'normal'): string =>
    `<arc id="${type}-${source}-${target}" source="${source}" target="${target}"><type value="${type}"/>${type === 'normal' ? `<inscription><text>${weight}</text></inscription>` : ''}</arc>`;
  return document(
    'random',
    'ptnet',
    `<page id="page">${[
      ...marking.map(
        (tokens, p) =>
          `<place id="p${p}"><initialMarking><text>${tokens}</text></initialMarking></place>`,
      ),
      ...transitions.flatMap((effects, t) => [
        `<transition id="t${t}"/>`,
        ...effects.flatMap(({ take, give, other }, p) => [
          take > 0 ? arc(`p${p}`, `t${t}`, take) : '',
          give > 0 ? arc(`t${t}`, `p${p}`, give) : '',
          other === 'none' ? '' : arc(`p${p}`, `t${t}`, 1, other),
        ]),
      ]),
    ].join('')}</page>`,
  );
}

/** The reachable markings by the textbook rule, and those without a successor. Undefined if there are too many. */
function explore({
  marking,
  transitions,
}: RandomNet):
  | { readonly reached: readonly (readonly number[])[]; readonly hasDeadlock: boolean }
  | undefined {
  const queue = [marking];
  const seen = new Set([marking.join()]);
  let hasDeadlock = false;
  for (const tokens of queue) {
    const enabled = transitions.filter((effects) =>
      effects.every(({ take, other }, p) => {
        const here = tokens[p] ?? 0;
        return (
          here >= take && (other !== 'inhibitor' || here === 0) && (other !== 'read' || here > 0)
        );
      }),
    );
    hasDeadlock ||= enabled.length === 0;
    for (const effects of enabled) {
      const next = effects.map(
        ({ take, give, other }, p) => (other === 'reset' ? 0 : (tokens[p] ?? 0) - take) + give,
      );
      if (seen.has(next.join())) continue;
      seen.add(next.join());
      queue.push(next);
      if (queue.length > MOST_MARKINGS) return undefined;
    }
  }
  return { reached: queue, hasDeadlock };
}

function countMarkings(net: CompiledNet, bounds: Bounds): number | undefined {
  return reachableMarkings(new TransitionSystem(expand(net, bounds), 'unordered'))?.size;
}

test('random nets with all kinds of arcs have the markings of the textbook rule, also after an export', async () => {
  let compared = 0;
  let dead = 0;
  await fc.assert(
    fc.asyncProperty(randomNet, async (random) => {
      const explored = explore(random);
      if (explored === undefined) return;
      compared++;
      if (explored.hasDeadlock) dead++;
      const { net, bounds } = fromPnml(toDocument(random));
      const compiled = compile(net);
      assert.equal(countMarkings(compiled, bounds), explored.reached.length);
      const exported = toPnml(net);
      assert.deepEqual(exported.losses, []);
      const again = fromPnml(exported.document, { names: 'name' }).net;
      assert.equal(countMarkings(compile(again), bounds), explored.reached.length);
      const last = explored.reached.at(-1) ?? [];
      const marked = Object.fromEntries(
        last.flatMap((tokens, p) => (tokens > 0 ? [[`p${p}`, tokens]] : [])),
      );
      const properties = [
        deadlockFree([]),
        ...(Object.keys(marked).length === 0 ? [] : [unreachable(marked)]),
      ];
      const report = await prove(compiled, { properties, bounds, route: 'search' });
      const [rests, reaches] = report.results.map(({ verdict }) => verdict);
      assert.equal(rests, explored.hasDeadlock ? 'refuted' : 'proved');
      if (reaches !== undefined) assert.equal(reaches, 'refuted');
    }),
    { numRuns: 200, seed: 1 },
  );
  assert.ok(compared > 100 && dead > 20 && dead < compared, `${compared} nets, ${dead} dead`);
});
