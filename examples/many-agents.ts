// Agents made of agents, in one session: two write side by side until a critic has heard enough, and a desk hands the
// turn to whoever suits it. A callback keeps a secret out of what a tool is told.
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import type { Agent } from 'petrichor';
import { custom, loop, parallel, sequential } from 'petrichor/agents';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const scriptedAgent = (name: string, ...texts: readonly string[]): Agent =>
  agent({ name, model: new ScriptedModel(texts.map((text) => ({ text }))) });

// A generator is an agent: what it yields is said, and it may leave the loop around it.
const critic = custom({
  name: 'critic',
  async *run({ state, actions }) {
    state.increment('rounds');
    yield 'I have read both.';
    if (state.get('rounds') === 2) actions.escalate();
  },
});

const writers = sequential({
  name: 'writers',
  description: 'Writes verse and prose.',
  subAgents: [
    loop({
      name: 'drafts',
      subAgents: [
        parallel({
          name: 'both',
          subAgents: [
            scriptedAgent('poet', 'A verse.', 'A better verse.'),
            scriptedAgent('novelist', 'A chapter.', 'A better chapter.'),
          ],
        }),
        critic,
      ],
      maxIterations: 5,
    }),
    scriptedAgent('editor', 'Here is the book.'),
  ],
});

const sent: string[] = [];
const post = tool({
  name: 'post',
  description: 'Posts a letter.',
  parameters: z.object({ text: z.string() }),
  idempotent: true,
  execute: ({ text }) => ({ posted: sent.push(text) }),
});
const clerk = agent({
  name: 'clerk',
  description: 'Posts letters.',
  model: new ScriptedModel([
    { toolCalls: [{ name: 'post', args: { text: 'The code is 1234.' } }] },
    { text: 'Posted.' },
  ]),
  tools: [post],
  callbacks: {
    // Asked before the call is judged and run; what it says is committed first.
    beforeTool: (_, { args: { text, ...rest } }) =>
      typeof text === 'string'
        ? { args: { ...rest, text: text.replaceAll(/\d/g, '*') } }
        : undefined,
  },
});

// A model hands the turn over by a call, `transfer_to_agent`, that is offered to it for its sub-agents.
const transfer = (name: string): object => ({
  toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: name } }],
});
const desk = agent({
  name: 'desk',
  model: new ScriptedModel([transfer('writers'), transfer('clerk')]),
  subAgents: [writers, clerk],
});

await using runtime = await openRuntime({ agents: [desk] });
const session = await runtime.session('demo');
const messages: string[] = [];
for (const request of ['A book, please.', 'Post my code.']) {
  for await (const event of session.send(request)) {
    if (event.type === 'error') throw new Error(event.message);
    if (event.type !== 'agent.message') continue;
    const text = event.content.parts.map((part) => ('text' in part ? part.text : '')).join('');
    if (text !== '') messages.push(`${event.branch ?? ''} ${event.author}: ${text}`.trim());
  }
}

console.log(messages.join('\n'));
assert.ok(messages.includes('both.poet poet: A better verse.'));
assert.equal(messages.filter((line) => line.startsWith('critic')).length, 2);
assert.ok(messages.includes('editor: Here is the book.'));
assert.deepEqual(sent, ['The code is ****.']);
