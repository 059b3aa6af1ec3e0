import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, initialToken, net, place, pure, upTo } from '../net/index.ts';
import type { CompiledNet, TokenPlace, Transition } from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import { placeBound } from './properties/create-property.ts';
import { prove } from './prove.ts';
import { formatReport, isProved } from './report.ts';
import type { ProofReport } from './report.ts';
import type { Solver } from './smt/solver.ts';

const start = place('start');
const budget = place('budget');
const nodes = [1, 2, 3, 4, 5].map((n) => place(`node.${n}`));
const stop = place('stop', { environment: true });

/** A chain of nodes. Each step takes a token of the budget. */
function chain(): CompiledNet {
  const begin = pure('begin', {
    take: { start },
    give: allOf({ first: nodes[0] ?? start, budget: upTo(100, budget) }),
    run: () => ({ first: null, budget: [] }),
  });
  const step = (from: TokenPlace<null>, to: TokenPlace<null>): Transition =>
    pure(`step.${from.name}`, {
      take: { from, budget },
      give: allOf({ to }),
      run: () => ({ to: null }),
    });
  const steps = nodes.slice(1).map((node, index) => step(nodes[index] ?? start, node));
  const halt = pure('halt', { take: { stop }, give: allOf({}), run: () => ({}) });
  return compile(
    net('chain', { transitions: [begin, ...steps, halt], initial: [initialToken(start, null)] }),
  );
}

const proveChain = (bounds: Bounds): Promise<ProofReport> =>
  prove(chain(), { properties: [placeBound('node.1', 1)], bounds, route: 'search' });

test('a bound that leaves transitions unreached qualifies the verdict, and names them', async () => {
  const report = await proveChain({ upTo: 2, faults: 0 });
  const [result] = report.results;
  const unreached = ['step.node.3', 'step.node.4'];
  assert.deepEqual([result?.verdict, result?.unreached], ['proved', unreached]);
  assert.deepEqual(report.unfired, unreached);
  assert.deepEqual([isProved(report), isProved(report, { strict: true })], [true, false]);
  const text = formatReport(report);
  assert.match(text, /at most 1 in node.1: proved for the reached part/);
  assert.match(text, /Warning: no explored run fires step.node.3, step.node.4/);
});

test('by default, a budget is tried with as many tokens as transitions take from it', async () => {
  const report = await proveChain({ faults: 0 });
  assert.deepEqual([report.results[0]?.unreached, report.unfired], [undefined, []]);
  assert.ok(isProved(report, { strict: true }));
  assert.ok(report.results[0]?.over.includes('<= 4 tokens at once for budget (declared: 100)'));
});

test('what the bounds exclude by the arcs is listed, and does not qualify the verdict', async () => {
  const report = await proveChain({ faults: 0, environment: { stop: 0 } });
  assert.deepEqual([report.unfired, report.excluded], [[], ['halt']]);
  assert.ok(isProved(report, { strict: true }));
});

test('a report states what its proofs assume', async () => {
  const report = await proveChain({ faults: 0 });
  assert.ok(report.assumptions.some((one) => one.startsWith('Every effect in flight ends')));
  for (const assumption of report.assumptions)
    assert.ok(formatReport(report).includes(`\n- ${assumption}`));
});

test('without a search of all states it is not known which transitions fire', async () => {
  const report = await proveChain({ faults: 0, states: 3 });
  assert.equal(report.results[0]?.verdict, 'unknown');
  assert.equal(report.unfired, undefined);
});

const trusting: Solver = {
  name: 'trusting',
  ask: async () => ({ answer: 'sat', by: 'trusting' }),
};

test('a proof by a solver names the transitions that no visited state fires', async () => {
  for (const route of ['solver', 'portfolio'] as const) {
    const run = (bounds: Bounds): Promise<ProofReport> =>
      prove(chain(), { properties: [placeBound('node.1', 1)], bounds, route, solver: trusting });
    // Too few states for the search, but enough to fire the first two steps.
    const states = route === 'solver' ? {} : { states: 4 };
    const report = await run({ upTo: 2, faults: 0, ...states });
    const [result] = report.results;
    const unreached = ['step.node.3', 'step.node.4'];
    assert.deepEqual([result?.verdict, result?.by], ['proved', 'trusting']);
    for (const name of unreached) assert.ok(result?.unreached?.includes(name));
    assert.ok(result?.unreached?.includes('begin') === false);
    assert.deepEqual(report.unfired, result?.unreached);
    assert.equal(isProved(report, { strict: true }), false);
  }
  const whole = await prove(chain(), {
    properties: [placeBound('node.1', 1)],
    bounds: { faults: 0 },
    route: 'solver',
    solver: trusting,
  });
  assert.deepEqual([whole.unfired, isProved(whole, { strict: true })], [[], true]);
});
