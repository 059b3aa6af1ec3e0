/** Checks the rules about arcs on the shipped nets, and that a net that breaks a rule is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkInvariants,
  InvariantError,
  state,
  turnStopping,
  userIn,
} from '../../src/agents/index.ts';
import { allOf, compile, place, pure, put } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { losing, withChanged, withoutInhibitor } from '../cases/net-mutations.ts';
import { agentProof } from './agent.ts';
import { allProofs } from './all-proofs.ts';
import { flowProofs } from './flows.ts';
import { managedSessionProof } from './managed.ts';
import { staleResultsProof } from './stale-results.ts';

const generation = { generation: 'generation.latest', committed: ['conversation'] };

/** Nets of whole sessions: they have a place for messages and a permit for turns. */
const sessions = allProofs.filter(({ net }) => {
  const { initial, places } = compile(net);
  return places.has(userIn.name) && initial.some((one) => one.place.name === 'turn.permit');
});

test('every session net satisfies the invariants, and has the places that they check', () => {
  const names = sessions.map(({ name }) => name);
  for (const { name } of [agentProof, managedSessionProof, ...flowProofs])
    assert.ok(names.includes(name), name);
  for (const { name, net } of [agentProof, managedSessionProof, ...flowProofs]) {
    const compiled = compile(net);
    assert.ok(compiled.places.has(turnStopping.name) && compiled.places.has(state.name), name);
  }
  for (const { net } of sessions) checkInvariants(compile(net));
  checkInvariants(compile(staleResultsProof.net), { generation });
});

function assertRejected(
  net: Net,
  rule: RegExp,
  options: Parameters<typeof checkInvariants>[1] = {},
): void {
  assert.throws(
    () => checkInvariants(compile(net), options),
    (error) => error instanceof InvariantError && rule.test(error.message),
  );
}

test('a second writer of state is rejected, in a plain and in a managed session', () => {
  const note = place('note.in', { environment: true });
  const secondWriter = pure('note.scribble', {
    take: { note },
    give: allOf({ state: put(state) }),
    run: () => ({ state: {} }),
  });
  for (const { net } of [agentProof, managedSessionProof])
    assertRejected({ ...net, transitions: [...net.transitions, secondWriter] }, /note\.scribble/);
});

test('an effect that can start after the end of a turn is rejected', () => {
  for (const { net } of [agentProof, managedSessionProof, ...flowProofs]) {
    const effects = net.transitions.filter(({ kind }) => kind === 'effect');
    assert.ok(effects.length > 0);
    for (const { name } of effects)
      assertRejected(
        withoutInhibitor(net, name, turnStopping.name),
        new RegExp(`"${name}" can start`),
      );
  }
});

test('a transfer without an alternative for unknown names is rejected', () => {
  const transferProof = flowProofs.find(({ net }) =>
    net.transitions.some(({ name }) => name.endsWith('/transfer.route')),
  );
  assert.ok(transferProof !== undefined);
  for (const { name } of transferProof.net.transitions.filter((t) =>
    t.name.endsWith('/transfer.route'),
  ))
    assertRejected(
      losing(transferProof.net, name, 'unknown'),
      /has no alternative for an unknown name/,
    );
});

test('a commit that does not read the generation is rejected', () => {
  const { net } = staleResultsProof;
  const sites = net.transitions.filter(({ read }) =>
    Object.values(read).some((input) => 'name' in input && input.name === 'generation.latest'),
  );
  assert.ok(sites.length > 1);
  for (const { name } of sites)
    assertRejected(
      withChanged(net, name, () => ({ read: {} })),
      new RegExp(`"${name}" commits`),
      { generation },
    );
});
