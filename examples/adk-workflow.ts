/** A workflow: functions and agents as a graph, with routes, a join, and the path of each event. */
import assert from 'node:assert/strict';
import {
  Event,
  InMemoryRunner,
  JoinNode,
  LlmAgent,
  node,
  contentText,
  Workflow,
} from 'petrichor/adk';
import type { NodeContext } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

/** Writes state and selects a route. After a crash it runs again, and events it already yielded are skipped. */
const classifyAndRoute = node(
  async function* classify(_: NodeContext, message: string) {
    const intent = message.toLowerCase().includes('invoice') ? 'billing' : 'support';
    yield Event({ state: { last_intent: intent }, route: intent });
  },
  { rerunOnResume: true, timeoutMs: 10_000 },
);

const support = new LlmAgent({
  name: 'support',
  instruction: 'Help with a problem of kind {last_intent}.',
  model: new ScriptedModel(({ instruction }) => ({ text: instruction?.split('\n').at(-1) ?? '' })),
});

// An invoice is looked up and checked concurrently; the join waits for both.
const lookUp = (): string => 'invoice 7';
const check = (): string => 'paid';
const joined = new JoinNode({ name: 'joined' });
const answer = (
  _: NodeContext,
  both: { readonly lookUp: string; readonly check: string },
): string => `${both.lookUp} is ${both.check}`;

const workflow = new Workflow({
  name: 'desk',
  edges: [
    ['START', classifyAndRoute, { billing: [lookUp, check], support }],
    [lookUp, joined],
    [check, joined, answer],
  ],
});

await using runner = new InMemoryRunner({ node: workflow });
const billing = await runner.runDebug('Where is my invoice?');
for (const { nodeInfo, output } of billing) console.log(nodeInfo?.path, output);
assert.equal(contentText(billing.at(-1)?.content), 'invoice 7 is paid');
assert.ok(billing.some(({ nodeInfo }) => nodeInfo?.path === 'desk/classify@1/lookUp@1'));

const [last] = (await runner.runDebug('It is broken.')).toReversed();
assert.equal(contentText(last?.content), 'Help with a problem of kind support.');
