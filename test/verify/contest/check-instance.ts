import assert from 'node:assert/strict';
import { fromPnml, toPnml } from '../../../src/interop/pnml/index.ts';
import type { ImportedPnml } from '../../../src/interop/pnml/index.ts';
import { compile } from '../../../src/net/index.ts';
import { deadlockFree, placeBound, prove } from '../../../src/verify/index.ts';
import { reachableMarkings } from '../../../src/verify/search/search.ts';
import { expand } from '../../../src/verify/system/expand.ts';
import { TransitionSystem } from '../../../src/verify/system/transition-system.ts';
import { toPtPnml } from './contest-net.ts';
import { explore } from './explore.ts';
import { toContestNet } from './imported-net.ts';
import type { ContestInstance, PublishedFacts } from './published.ts';

/** The limits of the long tests. The largest instance has 2.5 million markings. */
const LIMITS = { states: 5_000_000, memoryBytes: 2_000_000_000, searchTimeoutMs: 3_600_000 };

/** Checks that the net that was rebuilt has the published facts, by an exploration that knows no prover. */
export function checkModel({ net, published }: ContestInstance): void {
  const { reached: _, ...found } = explore(net());
  assert.deepEqual(found, published);
}

/** Checks that an import, and an import of its export, have the same reachable markings, by the same exploration. */
export function checkImports({ net, colored }: ContestInstance): void {
  const { reached } = explore(net());
  const documents = [toPtPnml(net()), ...(colored === undefined ? [] : [colored()])];
  for (const document of documents) {
    const first = fromPnml(document).net;
    const again = fromPnml(toPnml(first).document, { names: 'name' }).net;
    for (const imported of [first, again]) {
      const found = explore(toContestNet(imported)).reached;
      assert.equal(found.size, reached.size);
      assert.ok([...found].every((marking) => reached.has(marking)));
    }
  }
}

/** Checks that the prover finds the published number of markings, and proves and refutes what was published. */
export async function checkProver(instance: ContestInstance): Promise<void> {
  const { net, colored, published } = instance;
  await checkProofs(fromPnml(toPtPnml(net())), published);
  if (colored !== undefined) await checkProofs(fromPnml(colored()), published);
}

/** Checks only the number of markings that the prover finds. */
export function checkMarkings({ net, published }: ContestInstance): void {
  const { net: imported, bounds } = fromPnml(toPtPnml(net()));
  const system = new TransitionSystem(expand(compile(imported), bounds), 'unordered');
  assert.equal(reachableMarkings(system, LIMITS)?.size, published.markings);
}

async function checkProofs(
  { net, bounds, places }: ImportedPnml,
  published: PublishedFacts,
): Promise<void> {
  const compiled = compile(net);
  const system = new TransitionSystem(expand(compiled, bounds), 'unordered');
  assert.equal(reachableMarkings(system, LIMITS)?.size, published.markings);
  const names = [...places.values()].flat();
  const { maxInPlace, maxInMarking } = published;
  const whole = [
    deadlockFree([]),
    placeBound(names, maxInMarking),
    placeBound(names, maxInMarking - 1),
  ];
  const upTo = names.map((name) => placeBound(name, maxInPlace));
  const below = names.map((name) => placeBound(name, maxInPlace - 1));
  const report = await prove(compiled, {
    properties: [...whole, ...upTo, ...below],
    bounds: { ...bounds, ...LIMITS },
    route: 'search',
  });
  const verdicts = report.results.map(({ verdict }) => verdict);
  assert.deepEqual(verdicts.slice(0, whole.length), [
    published.hasDeadlock ? 'refuted' : 'proved',
    'proved',
    'refuted',
  ]);
  const [inBounds, inSmaller] = [
    verdicts.slice(whole.length, whole.length + names.length),
    verdicts.slice(whole.length + names.length),
  ];
  assert.ok(inBounds.every((verdict) => verdict === 'proved'));
  assert.ok(inSmaller.includes('refuted'));
  assert.ok(!inSmaller.includes('unknown'));
}
