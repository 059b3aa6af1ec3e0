import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allOf, compile, initialToken, net, oneOf, place, pure, upTo } from '../../net/index.ts';
import type { CompiledNet, Transition } from '../../net/index.ts';
import { expand } from '../system/expand.ts';
import { replay } from '../replay/replay.ts';
import { TransitionSystem } from '../system/transition-system.ts';
import { findFirings } from './find-firings.ts';
import { RelaxedDistance } from './relaxed-distance.ts';

const unused = (): never => {
  throw new Error('never run');
};

/** A pure transition that only its arcs describe. */
function move(name: string, arcs: object): Transition {
  const candidate: unknown = pure(name, { ...arcs, run: unused } as never);
  return candidate as Transition;
}

/**
 * Diamonds in a row: a choice leads to the left, to the right, or to both at once, so the tokens that arrive double.
 * Every step to the side takes one of few tokens of a budget.
 */
function doublingDiamonds(count: number, budgetTokens: number): CompiledNet {
  const [start, budget] = [place('start'), place('budget')];
  const at = (what: string, index: number) => place(`${what}${index}`);
  return compile(
    net('diamonds', {
      initial: [initialToken(start, null)],
      transitions: [
        move('begin', {
          take: { start },
          give: allOf({ first: at('from', 0), budget: upTo(budgetTokens, budget) }),
        }),
        ...Array.from({ length: count }, (_, index) => [
          move(`choose${index}`, {
            take: { from: at('from', index) },
            give: oneOf({
              left: at('left', index),
              right: at('right', index),
              both: allOf({ left: at('left', index), right: at('right', index) }),
            }),
          }),
          ...['left', 'right'].map((side) =>
            move(`${side}${index}`, {
              take: { token: at(side, index), budget },
              give: allOf({ next: at('from', index + 1) }),
            }),
          ),
        ]).flat(),
      ],
    }),
  );
}

async function find(compiled: CompiledNet, wanted: readonly string[], states = 20_000) {
  const expanded = expand(compiled, { upTo: 30, faults: 0, shutdowns: false });
  const system = new TransitionSystem(expanded, 'ordered');
  const indexes = new Set(wanted.map((name) => compiled.byName.get(name)?.index ?? -1));
  const limits = { states, endsAt: Number.POSITIVE_INFINITY };
  const found = await findFirings(system, indexes, limits, async () => undefined);
  for (const { path } of found.runs) replay(system, path);
  const begun = new Set(found.runs.flatMap((run) => [...run.begun]));
  return { ...found, missed: wanted.filter((_, at) => !begun.has([...indexes][at] ?? -1)) };
}

describe('the search for firings', () => {
  it('comes to the end of a row of choices that double its tokens in few states', async () => {
    const compiled = doublingDiamonds(20, 22);
    const all = compiled.transitions.map(({ name }) => name);
    const { runs, states, missed } = await find(compiled, all);
    assert.deepEqual(missed, []);
    assert.ok(runs.length <= 3, `${runs.length} runs`);
    assert.ok(states < 1_000, `${states} states`);
  });

  it('misses a transition behind more steps than the budget has tokens', async () => {
    const { missed } = await find(doublingDiamonds(6, 4), ['left3', 'right4']);
    assert.deepEqual(missed, ['right4']);
  });

  it('finds a transition from the start if the end of the run so far excludes it', async () => {
    const [p, left, right, done] = [place('p'), place('left'), place('right'), place('done')];
    const compiled = compile(
      net('exclusive', {
        initial: [initialToken(p, null)],
        transitions: [
          move('choose', { take: { p }, give: oneOf({ left, right }) }),
          move('go-left', { take: { left }, give: allOf({ done }) }),
          move('go-right', { take: { right }, give: allOf({ done }) }),
          move('join', { take: { left, right }, give: allOf({ done }) }),
        ],
      }),
    );
    const { missed, runs } = await find(compiled, ['go-left', 'go-right', 'join']);
    assert.deepEqual(missed, ['join']);
    assert.equal(runs.length, 2);
  });

  it('estimates the steps to a firing, each once, as if no token was used up', () => {
    const compiled = doublingDiamonds(3, 1);
    const system = new TransitionSystem(expand(compiled, {}), 'ordered');
    const distance = new RelaxedDistance(system.net, system.tokenClasses);
    const measure = (name: string) =>
      distance.measure(system.initial(), compiled.byName.get(name)?.index ?? -1);
    assert.deepEqual(
      ['begin', 'choose0', 'left0', 'left1', 'right2'].map(measure),
      [1, 2, 3, 5, 7],
    );
  });

  it('ends at its limit of states', async () => {
    const compiled = doublingDiamonds(20, 22);
    const { states, missed } = await find(compiled, ['left19'], 50);
    assert.deepEqual(missed, ['left19']);
    assert.ok(states < 200, `${states} states`);
  });
});
