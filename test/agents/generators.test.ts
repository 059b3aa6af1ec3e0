import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { custom, NodeEvent, RequestInput, workflow } from '../../src/agents/index.ts';
import type {
  Agent,
  CustomContext,
  CustomYield,
  NodeBody,
  NodeContext,
} from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import { runAgent } from './run-agent.ts';

type Steps = (context: CustomContext) => Iterable<unknown> | AsyncIterable<unknown>;

const customAgent = (steps: Steps): Agent =>
  custom({
    name: 'runner',
    async *run(context) {
      yield* steps(context) as AsyncIterable<CustomYield>;
    },
  });

const oneNode = (run: NodeBody): Agent =>
  workflow({
    name: 'flow',
    nodes: [{ kind: 'function', name: 'runner', run }],
    edges: [{ from: 'START', to: 'runner' }],
  });

/** The same generator as a custom agent and as the only node of a workflow. */
const both = (
  steps: (context: CustomContext | NodeContext) => AsyncGenerator<CustomYield>,
): readonly (readonly [string, Agent])[] => [
  ['custom agent', customAgent(steps)],
  ['function node', oneNode(steps)],
];

const messages = (log: readonly LogEntry[]) =>
  log.flatMap((event) =>
    event.type === 'agent.message'
      ? [{ text: contentText(event.content), output: event.output, actions: event.actions }]
      : [],
  );

const errors = (log: readonly LogEntry[]) =>
  log.flatMap((event) => (event.type === 'error' ? [`${event.code}: ${event.message}`] : []));

describe('a generator, as a custom agent and as a function node,', () => {
  it('commits an event with content, output, route, state and actions as one event', async () => {
    for (const [kind, agent] of both(async function* ({ state }) {
      yield new NodeEvent({
        content: { role: 'model', parts: [{ text: 'Saved.' }] },
        output: { n: 1 },
        route: false,
        state: { seen: true },
        actions: { artifactDelta: { 'a.txt': 0 }, stateDelta: { seen: false } },
      });
      assert.equal(state.get('seen'), true);
    }))
      assert.deepEqual(
        messages(await runAgent(agent).sendAndWait('Go')).filter(({ text }) => text === 'Saved.'),
        [
          {
            text: 'Saved.',
            output: { n: 1 },
            actions: { artifactDelta: { 'a.txt': 0 }, route: false },
          },
        ],
        kind,
      );
  });

  it('reads the firing and the attempt of its current step', async () => {
    for (const [kind, agent] of both(async function* (context) {
      const first = context.firingId;
      yield { role: 'model', parts: [{ text: 'First.' }] };
      assert.notEqual(context.firingId, first);
      assert.equal(context.attempt, 1);
      yield { role: 'model', parts: [{ text: 'Second.' }] };
    }))
      assert.deepEqual(
        messages(await runAgent(agent).sendAndWait('Go')).map(({ text }) => text),
        ['First.', 'Second.'],
        kind,
      );
  });

  it('cleans up when its yield is refused', async () => {
    let cleaned = 0;
    for (const [kind, agent] of both(async function* () {
      try {
        yield new NodeEvent({ actions: { rewindBeforeInvocationId: 'e-1' } });
      } finally {
        cleaned += 1;
      }
    })) {
      const log = await runAgent(agent).sendAndWait('Go');
      assert.match(errors(log).join('\n'), /failed: .*actions\.rewindBeforeInvocationId/s, kind);
    }
    assert.equal(cleaned, 2);
  });

  it('is refused a route that is not a route, by name', async () => {
    for (const [kind, agent] of both(async function* () {
      yield new NodeEvent({ route: {} as never });
    }))
      assert.match(
        errors(await runAgent(agent).sendAndWait('Go')).join('\n'),
        /failed: .*route: must be a string/s,
        kind,
      );
  });
});

describe('a custom agent', () => {
  it('yields route and state beside its content', async () => {
    const log = await runAgent(
      customAgent(function* ({ state }) {
        yield {
          content: { role: 'model', parts: [{ text: 'Hm.' }] },
          route: 'left',
          state: { n: 1 },
        };
        assert.equal(state.get('n'), 1);
      }),
    ).sendAndWait('Go');
    assert.deepEqual(messages(log), [
      { text: 'Hm.', output: undefined, actions: { route: 'left' } },
    ]);
  });

  it('cannot ask a question, and is told where one can', async () => {
    const log = await runAgent(
      customAgent(function* () {
        yield new RequestInput({ message: 'Sure?' });
      }),
    ).sendAndWait('Go');
    assert.match(errors(log).join('\n'), /agent_failed: .*ask in a function node of a workflow/s);
  });
});
