import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, initialToken, net, place, pure } from '../../net/index.ts';
import { atMost, InvalidContractError, prove } from '../index.ts';
import type { Contract } from '../index.ts';

const [asked, inbox, note] = [place('asked', { environment: true }), place('inbox'), place('note')];
const [a, done] = [place('a'), place('done')];

const of = compile(
  net('desk', {
    initial: [initialToken(a, null)],
    transitions: [
      pure('write', { take: { a }, give: allOf({ note }), run: () => ({ note: null }) }),
      pure('send', { take: { asked }, give: allOf({ inbox }), run: () => ({ inbox: null }) }),
      pure('clerk/work', { take: { note }, give: allOf({ done }), run: () => ({ done: null }) }),
    ],
  }),
);

/** Two events that set the clerk to work, or not. */
const valid: Contract = {
  initial: 'free',
  events: [
    { name: 'go', promisedBy: 'environment', on: { gives: ['inbox'], by: 'environment' } },
    { name: 'note', promisedBy: 'environment', on: { gives: ['note'] } },
  ],
  steps: { free: { go: 'busy', note: 'busy' }, busy: {} },
};

async function proveWith(contract: Contract): Promise<string | undefined> {
  const { results } = await prove(of, {
    properties: [atMost(['clerk/work', 'write'], 2)],
    bounds: { faults: 0, shutdowns: false, environment: { asked: 0 } },
    components: {
      shared: [],
      ports: [],
      children: [
        {
          name: 'clerk',
          places: ['inbox', 'note'],
          transitions: ['clerk/work'],
          contract,
          children: [],
        },
      ],
    },
  });
  return results[0]?.by;
}

test('a contract whose events, steps and states fit together is used', async () => {
  assert.equal(await proveWith(valid), 'contracts');
});

const [go, second] = valid.events;
assert.ok(go !== undefined && second !== undefined);

const invalid: Readonly<Record<string, readonly [Contract, field: string, message: string]>> = {
  'two events of one name': [
    {
      ...valid,
      events: [go, { ...second, name: 'go' }],
      steps: { free: { go: 'busy' }, busy: {} },
    },
    'events[1].name',
    'The contract of component "clerk" is invalid: events[1].name is "go", the name of an earlier event. Give each event a name of its own.',
  ],
  'a step of an event that it does not have': [
    { ...valid, steps: { ...valid.steps, busy: { gone: 'free' } } },
    'steps.busy.gone',
    'The contract of component "clerk" is invalid: steps.busy.gone is a step of an event that the contract does not have. Declare the event "gone", or remove the step.',
  ],
  'a step to a state without an entry': [
    { ...valid, steps: { free: { go: 'away', note: 'free' } } },
    'steps.free.go',
    'The contract of component "clerk" is invalid: steps.free.go is the state "away", which has no entry in steps. Add "away: {}".',
  ],
  'an initial state without an entry': [
    { ...valid, initial: 'idle' },
    'initial',
    'The contract of component "clerk" is invalid: initial is the state "idle", which has no entry in steps. Add "idle: {}".',
  ],
};

for (const [fault, [contract, field, message]] of Object.entries(invalid))
  test(`a contract with ${fault} is refused`, async () => {
    await assert.rejects(proveWith(contract), (error) => {
      assert.ok(error instanceof InvalidContractError);
      assert.deepEqual([error.component, error.field, error.message], ['clerk', field, message]);
      return true;
    });
  });
