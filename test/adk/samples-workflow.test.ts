/** The samples of ADK's pages on events of workflows. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Event, InMemoryRunner, node, textOf, Workflow } from '../../src/runner/index.ts';
import type { NodeContext } from '../../src/runner/index.ts';

const classifyAndRoute = node(
  async function* classifyAndRoute(_: NodeContext, userMessage: string) {
    const intent = userMessage.toLowerCase().includes('invoice') ? 'billing' : 'support';
    // A state update alongside the routing decision.
    yield Event({ state: { last_intent: intent }, route: intent });
  },
  { name: 'classify', rerunOnResume: true },
);
const billing = (): string => 'Billing here.';
const support = (): string => 'Support here.';
const workflow = new Workflow({
  name: 'my_wf',
  edges: [['START', classifyAndRoute, { billing, support }]],
});

it('a node yields a state update and a route, and the route is taken', async () => {
  await using runner = new InMemoryRunner({ node: workflow, appName: 'demo' });
  for (const [message, answer, intent] of [
    ['Where is my invoice?', 'Billing here.', 'billing'],
    ['Help!', 'Support here.', 'support'],
  ] as const) {
    const events = await runner.runDebug(message);
    assert.equal(textOf(events.at(-1)?.content), answer);
    assert.deepEqual(
      events.flatMap(({ actions }) => actions.route ?? []),
      [intent],
    );
    const session = await runner.sessionService.getSession({
      appName: 'demo',
      userId: 'debug_user_id',
      sessionId: 'debug_session_id',
    });
    assert.equal(session?.state['last_intent'], intent);
  }
});

it('events of a workflow say which node made them, and in which of its runs', async () => {
  await using runner = new InMemoryRunner({ node: workflow });
  const printed: string[] = [];
  for (const { nodeInfo } of await runner.runDebug('Where is my invoice?')) {
    if (nodeInfo !== undefined)
      printed.push(`${nodeInfo.path}: ${nodeInfo.name}, run_id: ${nodeInfo.runId}`);
  }
  assert.deepEqual(printed, [
    'my_wf/classify@1: classify, run_id: 1',
    'my_wf/classify@1/billing@1: billing, run_id: 1',
  ]);
});
