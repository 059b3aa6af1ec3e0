/** Composed agents: a sequence, a parallel agent, a loop, and a custom agent. */
import assert from 'node:assert/strict';
import {
  BaseAgent,
  InMemoryRunner,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  contentText,
} from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

const scriptedAgent = (name: string, text: string): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedModel(() => ({ text })), outputKey: name });

/** Counts its rounds and leaves the enclosing loop after two. Each yield is committed before the agent continues. */
class Counter extends BaseAgent {
  protected override async *runAsyncImpl(
    context: Parameters<BaseAgent['runAsync']>[0],
  ): AsyncGenerator<string> {
    context.state.increment('rounds');
    yield 'counted';
    if (context.state.get('rounds') === 2) context.actions.escalate();
  }
}

const root = new SequentialAgent({
  name: 'root',
  subAgents: [
    new ParallelAgent({
      name: 'research',
      subAgents: [scriptedAgent('history', 'It is old.'), scriptedAgent('geography', 'It is far.')],
    }),
    new LoopAgent({
      name: 'rounds',
      maxIterations: 5,
      subAgents: [new Counter({ name: 'counter' })],
    }),
    new LlmAgent({
      name: 'writer',
      instruction: '{history} {geography} {rounds} rounds.',
      model: new ScriptedModel(({ instruction }) => ({
        text: instruction?.split('\n').at(-1) ?? '',
      })),
    }),
  ],
});

await using runner = new InMemoryRunner({ agent: root });
const events = await runner.runDebug('Tell me of Samarkand.');
const lines = events.map(({ author, content }) => `${author}: ${contentText(content)}`);
console.log(lines.join('\n'));
assert.equal(lines.at(-1), 'writer: It is old. It is far. 2 rounds.');
assert.equal(lines.filter((line) => line === 'counter: counted').length, 2);
