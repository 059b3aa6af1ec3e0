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

test('every net of a session follows the rules of agents, and every rule applies to it', () => {
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

function refused(
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
  const scribble = pure('note.scribble', {
    take: { note },
    give: allOf({ state: put(state) }),
    run: () => ({ state: {} }),
  });
  for (const { net } of [agentProof, managedSessionProof])
    refused({ ...net, transitions: [...net.transitions, scribble] }, /note\.scribble/);
});

test('every effect of a session that may begin after its end is found', () => {
  for (const { net } of [agentProof, managedSessionProof, ...flowProofs]) {
    const effects = net.transitions.filter(({ kind }) => kind === 'effect');
    assert.ok(effects.length > 0);
    for (const { name } of effects)
      refused(withoutInhibitor(net, name, turnStopping.name), new RegExp(`"${name}" can start`));
  }
});

test('a transfer without an alternative for unknown names is rejected', () => {
  const handing = flowProofs.find(({ net }) =>
    net.transitions.some(({ name }) => name.endsWith('/transfer.route')),
  );
  assert.ok(handing !== undefined);
  for (const { name } of handing.net.transitions.filter((t) => t.name.endsWith('/transfer.route')))
    refused(losing(handing.net, name, 'unknown'), /has no alternative for an unknown name/);
});

test('every commit that does not read the generation is rejected', () => {
  const { net } = staleResultsProof;
  const sites = net.transitions.filter(({ read }) =>
    Object.values(read).some((input) => 'name' in input && input.name === 'generation.latest'),
  );
  assert.ok(sites.length > 1);
  for (const { name } of sites)
    refused(
      withChanged(net, name, () => ({ read: {} })),
      new RegExp(`"${name}" commits`),
      { generation },
    );
});
