import assert from 'node:assert/strict';
import { contentText } from '../../../src/core/index.ts';
import type { LogEvent } from '../../../src/core/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import type { Session } from '../../../src/runtime/index.ts';
import { RELEASED_AT } from '../released-agents.ts';
import { flowAgent, guideAgent, helperModel } from '../released-generators.ts';
import { readUntil } from './released-case.ts';
import type { ReleasedCase } from './released-case.ts';

interface Opened {
  readonly session: Session;
  readonly clock: SimulatedClock;
  /** The places in their code that the generators of this session reached in this process. */
  readonly reached: readonly string[];
}

const createCase = (
  id: string,
  what: string,
  check: (opened: Opened) => Promise<void>,
): ReleasedCase => ({
  name: `generator, ${id}: ${what}`,
  check: async (open) => {
    const clock = new SimulatedClock(RELEASED_AT + 1_000);
    const reached: string[] = [];
    const reach = async (place: string, sessionId: string): Promise<void> => {
      if (sessionId === id) reached.push(place);
    };
    await using runtime = await openRuntime({
      agents: [
        guideAgent(
          helperModel(() => false),
          reach,
        ),
        flowAgent(reach),
      ],
      store: await open('generators'),
      clock,
    });
    await check({ session: await runtime.session(id), clock, reached });
  },
});

/** The texts of the messages, and the keys and values of the state changes. */
function summary(log: readonly LogEvent[]): readonly string[] {
  return log.flatMap((event) => {
    if (event.type === 'state.changed')
      return Object.entries(event.delta).map(([key, value]) => `${key}=${String(value)}`);
    if (event.type === 'error') return [`error: ${event.message}`];
    const text = event.type === 'agent.message' ? contentText(event.content) : '';
    return text === '' ? [] : [text];
  });
}

const guided = [
  'First.',
  'Helped.',
  'Second.',
  'first=max_tokens',
  'Helped.',
  'Third, after max_tokens.',
];

export const generatorCases: readonly ReleasedCase[] = [
  createCase(
    'guide in a step',
    'repeats no yield, and runs its sub-agent again',
    async ({ session, reached }) => {
      const log = await readUntil(session.events(), 'turn.ended');
      assert.deepEqual(summary(log), [...guided, 'second=max_tokens']);
      assert.deepEqual(reached, ['guide']);
    },
  ),

  createCase(
    'guide with a waiting sub-agent',
    'gets the replies to both runs of its sub-agent',
    async ({ session, clock, reached }) => {
      clock.advance(30_000);
      const log = await readUntil(session.events(), 'turn.ended');
      assert.deepEqual(summary(log), [...guided, 'second=max_tokens']);
      assert.deepEqual(reached, ['guide']);
    },
  ),

  createCase(
    'flow in a step',
    'repeats no yield of the node, and asks',
    async ({ session, reached }) => {
      const log = await readUntil(session.events(), 'turn.waiting');
      assert.deepEqual(summary(log), ['One.', 'counted=1', 'counted=2', 'counted=3']);
      assert.deepEqual(reached, ['count', 'item a', 'item b']);
    },
  ),

  createCase(
    'flow in a list',
    'runs only the item that was not done, and asks',
    async ({ session, reached }) => {
      await readUntil(session.events(), 'turn.waiting');
      assert.deepEqual(reached, ['item b']);
    },
  ),

  createCase(
    'flow with a question',
    'resumes the node with the answer',
    async ({ session, reached }) => {
      const [question] = await session.pending();
      assert.equal(question?.id, 'sure');
      await session.answer('sure', { result: 'yes' }).accepted;
      const log = await readUntil(session.events(), 'turn.ended');
      assert.deepEqual(summary(log).slice(-2).toSorted(), [
        'answered=yes',
        'yes: ["done a","done b"]',
      ]);
      assert.deepEqual(reached, []);
    },
  ),
];
