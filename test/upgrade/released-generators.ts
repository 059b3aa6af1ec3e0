import { agent, custom, NodeEvent, RequestInput, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';

/** Called by a generator between two yields, with the name of the place in its code. */
export type Reach = (place: string, sessionId: string) => Promise<void>;

/** A model that stops at its token limit, and is overloaded while `isDown` returns true. */
export function helperModel(isDown: () => boolean): Model {
  const scripted = new ScriptedModel(() => ({ text: 'Helped.', finishReason: 'max_tokens' }));
  return {
    name: 'helper',
    generate: async (request, context) => {
      if (!isDown()) return scripted.generate(request, context);
      throw new ModelError({
        model: 'helper',
        kind: 'overloaded',
        message: 'Come back later.',
        retryAfterMs: 30_000,
      });
    },
  };
}

/** A custom agent that runs a sub-agent twice. It writes how both runs ended. */
export function guideAgent(model: Model, reach: Reach): Agent {
  return custom({
    name: 'guide',
    subAgents: [agent({ name: 'helper', model })],
    async *run({ state, run, sessionKey }) {
      yield 'First.';
      const first = yield* run('helper');
      state.set('first', first.stopReason);
      yield 'Second.';
      await reach('guide', sessionKey.sessionId);
      const second = yield* run('helper');
      state.set('second', second.stopReason);
      yield `Third, after ${first.stopReason}.`;
    },
  });
}

/** A workflow: a generator with three yields, a list of two items, and a node that asks a question. */
export function flowAgent(reach: Reach): Agent {
  return workflow({
    name: 'flow',
    nodes: [
      {
        kind: 'function',
        name: 'count',
        async *run({ state, sessionKey }) {
          state.increment('counted');
          yield new NodeEvent({ content: { role: 'model', parts: [{ text: 'One.' }] } });
          await reach('count', sessionKey.sessionId);
          state.increment('counted');
          yield new NodeEvent({ output: ['a', 'b'], route: 'list' });
          state.increment('counted');
        },
      },
      {
        kind: 'each',
        name: 'item',
        run: async ({ sessionKey }, input) => {
          await reach(`item ${String(input)}`, sessionKey.sessionId);
          return `done ${String(input)}`;
        },
      },
      {
        kind: 'function',
        name: 'ask',
        rerunOnResume: true,
        async *run({ state }, input) {
          const answer: unknown = yield new RequestInput({ message: 'Sure?', interruptId: 'sure' });
          state.set('answered', String(answer));
          yield new NodeEvent({ output: `${String(answer)}: ${JSON.stringify(input)}` });
        },
      },
    ],
    edges: [
      { from: 'START', to: 'count' },
      { from: 'count', to: 'item', route: 'list' },
      { from: 'item', to: 'ask' },
    ],
  });
}
