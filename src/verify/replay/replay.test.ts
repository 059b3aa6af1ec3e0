import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, initialToken, net, place, pure } from '../../net/index.ts';
import type { CompiledNet, TokenPlace, Transition } from '../../net/index.ts';
import { ReplayError } from '../properties/verify-errors.ts';
import type { Path } from '../search/search.ts';
import { expand } from '../system/expand.ts';
import { TransitionSystem } from '../system/transition-system.ts';
import { replay } from './replay.ts';

const [a, b, c] = [place('a'), place('b'), place('c')];

const move = (name: string, from: TokenPlace<null>, to: TokenPlace<null>): Transition =>
  pure(name, { take: { from }, give: allOf({ to }), run: () => ({ to: null }) });

const start = (...transitions: readonly Transition[]): CompiledNet =>
  compile(net('start', { transitions, initial: [initialToken(a, null)] }));

const open = (of: CompiledNet): TransitionSystem =>
  new TransitionSystem(expand(of, { faults: 0 }), 'ordered', new Set(), undefined, {
    refuses: true,
  });

/** Returns the path of these steps, whatever the executor does. */
function follow(system: TransitionSystem, steps: readonly string[]): Path {
  const states = [system.initial()];
  const moves = steps.map((step) => {
    const from = states.at(-1);
    assert.ok(from);
    const found = system
      .successors(from)
      .moves.find(({ kind, t }) => `${kind} ${system.net.transitions[t]?.name}` === step);
    assert.ok(found, step);
    states.push(system.apply(from, found));
    return found;
  });
  return { states, moves };
}

const isReplayError =
  (message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof ReplayError && message.test(error.message);

test('a path is replayed with its records and its last marking', () => {
  const system = open(start(move('go', a, b), move('on', b, c)));
  const { records, marking } = replay(system, follow(system, ['fired go', 'fired on']));
  assert.deepEqual(
    records.map((record) => record.kind),
    ['injected', 'fired', 'fired'],
  );
  assert.deepEqual({ ...marking, a: 0, b: 0 }, { a: 0, b: 0, c: 1 });
});

test('a path whose last marking the executor does not reach is refused', () => {
  const system = open(start(move('go', a, b)));
  const path = follow(system, ['fired go']);
  const wrong = { ...path, states: [...path.states, system.initial()] };
  assert.throws(() => replay(system, wrong), isReplayError(/expected the marking/));
});

test('a path with another transition than the executor fires is refused', () => {
  const system = open(start(move('go', a, b), move('same', a, b)));
  const path = follow(system, ['fired go']);
  const same = system.net.transitions.findIndex(({ name }) => name === 'same');
  const wrong = { ...path, moves: path.moves.map((one) => ({ ...one, t: same })) };
  assert.throws(() => replay(system, wrong), isReplayError(/expected "fired same"/));
});

test('a livelock that ends on the executor is refused', () => {
  const system = open(start(move('go', a, b)));
  const path = follow(system, ['fired go']);
  const wrong: Path = { ...path, isLivelock: true, cycleFrom: 0 };
  assert.throws(() => replay(system, wrong), isReplayError(/but the settling ended/));
});

test('a livelock with another refused firing than the one of the executor is refused', () => {
  const system = open(start(move('ping', a, b), move('pong', b, a)));
  const lap = { isLivelock: true, cycleFrom: 0, cycleTo: 2 } as const;
  const right = follow(system, ['fired ping', 'fired pong', 'faulted ping']);
  assert.equal(replay(system, { ...right, ...lap }).records.at(-1)?.kind, 'faulted');
  const wrong = follow(system, ['fired ping', 'fired pong', 'fired ping', 'faulted pong']);
  assert.throws(
    () => replay(system, { ...wrong, ...lap }),
    isReplayError(/refused another firing than the path/),
  );
});
