import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkHistory } from './check-history.ts';
import type { Answer, FinalLogs, History, LoggedEvent, Send, View } from './history.ts';

const send = (text: string, startedAt: number, endedAt: number | undefined): Send => ({
  kind: 'send',
  session: 's',
  text,
  startedAt,
  endedAt,
});

const answer = (
  decision: Answer['decision'],
  outcome: Answer['outcome'],
  [startedAt, endedAt]: readonly [number, number | undefined],
): Answer => ({ kind: 'answer', session: 's', callId: 'c', decision, outcome, startedAt, endedAt });

/** Two sends overlap, a third begins later; one has no response. Two people answer one call. */
const operations: History['operations'] = [
  send('a', 0, 10),
  send('b', 5, 8),
  send('c', 20, 30),
  send('d', 21, undefined),
  answer('allow', 'accepted', [40, 50]),
  answer('deny', 'refused', [41, 52]),
  answer('allow', 'unknown', [60, undefined]),
];
const log: readonly LoggedEvent[] = [
  { id: '1', text: 'b' },
  { id: '2', text: 'a' },
  { id: '3', text: 'c' },
  { id: '4', answer: { callId: 'c', decision: 'allow' } },
  { id: '5', text: 'd' },
];
const view: View = {
  session: 's',
  reader: 'r',
  events: ['1', '2', '3', '4'].map((id) => ({ id, receivedAt: 100 })),
};

function findRules(change: {
  readonly operations?: History['operations'];
  readonly log?: readonly LoggedEvent[];
  readonly events?: View['events'];
}): readonly string[] {
  const logs: FinalLogs = new Map([['s', change.log ?? log]]);
  const views = [{ ...view, events: change.events ?? view.events }];
  const history = { operations: change.operations ?? operations, views };
  return checkHistory(history, logs).map(({ rule }) => rule);
}

const without = (id: string): readonly LoggedEvent[] => log.filter((one) => one.id !== id);
const moved = (id: string, before: string): readonly LoggedEvent[] =>
  log.flatMap((one) =>
    one.id === id
      ? []
      : one.id === before
        ? [...log.filter((other) => other.id === id), one]
        : [one],
  );

describe('the checker of fleet histories', () => {
  it('accepts a correct history, with and without the effect of a send that got no response', () => {
    assert.deepEqual(findRules({}), []);
    assert.deepEqual(findRules({ log: without('5') }), []);
  });

  const cases: readonly (readonly [
    what: string,
    change: Parameters<typeof findRules>[0],
    expected: readonly string[],
  ])[] = [
    ['an accepted message that the log lacks', { log: without('3'), events: [] }, ['lost message']],
    [
      'a message twice',
      { log: log.flatMap((one) => (one.id === '2' ? [one, one] : [one])), events: [] },
      ['doubled message'],
    ],
    [
      'a message without a response twice',
      { log: [...log, { id: '6', text: 'd' }] },
      ['doubled message'],
    ],
    [
      'a message of nobody',
      { log: [...log, { id: '6', text: 'x' }] },
      ['message that nobody sent'],
    ],
    [
      'a message before one that was accepted before it was sent',
      { log: moved('3', '1'), events: [] },
      ['message before an earlier one', 'message before an earlier one'],
    ],
    [
      'a message that is seen before it is sent',
      { events: [{ id: '1', receivedAt: 4 }] },
      ['message seen before it was sent'],
    ],
    ['an accepted answer that the log lacks', { log: without('4'), events: [] }, ['lost answer']],
    [
      'an answer that takes effect twice',
      { log: [...log, { id: '6', answer: { callId: 'c', decision: 'allow' } }] },
      ['doubled answer'],
    ],
    [
      'an answer to a call that nobody answered',
      { log: [...log, { id: '6', answer: { callId: 'x', decision: 'allow' } }] },
      ['answer that nobody gave'],
    ],
    [
      'two accepted decisions of one call',
      { operations: [...operations, answer('deny', 'accepted', [70, 80])] },
      ['two decisions'],
    ],
    [
      'a decision of the log that was refused',
      {
        operations: operations.filter((one) => one.kind === 'send' || one.decision === 'deny'),
      },
      ['answer that nobody gave', 'refusal without another decision'],
    ],
    [
      'a refusal that ended before any other decision began',
      { operations: [...operations, answer('deny', 'refused', [31, 39])] },
      ['refusal without another decision'],
    ],
    [
      'a reader that misses an event',
      { events: view.events.filter(({ id }) => id !== '2') },
      ['gap'],
    ],
    ['a reader that misses the first event', { events: view.events.slice(1) }, ['gap']],
    [
      'a reader that gets an event twice',
      { events: [...view.events, { id: '2', receivedAt: 101 }] },
      ['event twice or late'],
    ],
    [
      'a reader that gets two events in another order',
      { events: ['1', '3', '2', '4'].map((id) => ({ id, receivedAt: 100 })) },
      ['gap', 'event twice or late'],
    ],
    [
      'a reader that gets an event that was not kept',
      { events: [...view.events, { id: 'x', receivedAt: 101 }] },
      ['event that is not in the log'],
    ],
  ];
  for (const [what, change, expected] of cases)
    it(`finds ${what}`, () => assert.deepEqual(findRules(change), expected));
});
