/** The samples of ADK's pages on AgentBuilder, workflows and context caches, in TypeScript. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AgentBuilder,
  App,
  DatabaseSessionService,
  Event,
  InMemoryRunner,
  LlmAgent,
  node,
  Runner,
  contentText,
  Workflow,
} from '../../src/adk/index.ts';
import type { NodeContext } from '../../src/adk/index.ts';
import { geminiWire } from '../models/wire/gemini-wire.ts';
import { openWireServer, WIRE_KEY } from '../models/wire/wire-server.ts';
import { scriptedResolver } from './scripted-resolver.ts';

const modelResolver = scriptedResolver(({ contents }) => ({
  text: contentText(contents.at(-1)).includes('capital')
    ? 'The capital of France is Paris.'
    : 'Day 1: the Louvre.',
}));

describe('AgentBuilder', () => {
  it('ask() sends one message and returns the text of the answer', async () => {
    const response = await AgentBuilder.withModel('gemini-2.0-flash-exp')
      .withRunnerOptions({ modelResolver })
      .ask('What is the capital of France?');
    assert.equal(response, 'The capital of France is Paris.');
  });

  it('build() returns an agent with a runner and a session, and the runner streams events as they occur', async () => {
    const { runner, session, agent } = await AgentBuilder.create('travel-assistant')
      .withModel('gemini-2.0-flash-exp')
      .withInstruction('You are a helpful travel planning assistant')
      .withRunnerOptions({ modelResolver })
      .build();
    assert.equal(agent.name, 'travel-assistant');
    let streamed = '';
    let complete: unknown;
    for await (const event of runner.runAsync({
      userId: 'user_123',
      sessionId: session.id,
      newMessage: { parts: [{ text: 'Plan a 3-day trip to Paris' }] },
      runConfig: { streamingMode: 'sse' },
    })) {
      if (event.partial === true) streamed += contentText(event.content);
      else complete = event.content?.parts;
    }
    await runner.close();
    assert.equal(streamed, 'Day 1: the Louvre.');
    assert.deepEqual(complete, [{ text: 'Day 1: the Louvre.' }]);
  });

  it('ask() creates a session on the first call and continues it on the next', async () => {
    const echo = scriptedResolver(({ contents }) => ({ text: `message ${contents.length}` }));
    await using built = await AgentBuilder.withModel('gemini-2.0-flash-exp')
      .withRunnerOptions({ modelResolver: echo })
      .build();
    assert.equal(await built.runner.ask('one'), 'message 1');
    assert.equal(await built.runner.ask('two'), 'message 3');
  });
});

const classifyAndRoute = node(
  async function* classifyAndRoute(_: NodeContext, userMessage: string) {
    const intent = userMessage.toLowerCase().includes('invoice') ? 'billing' : 'support';
    // Updates state in the same event as the route.
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

it('a node yields a state update and a route, and the workflow takes the route', async () => {
  await using runner = new InMemoryRunner({ node: workflow, appName: 'demo' });
  for (const [message, answer, intent] of [
    ['Where is my invoice?', 'Billing here.', 'billing'],
    ['Help!', 'Support here.', 'support'],
  ] as const) {
    const events = await runner.runDebug(message);
    assert.equal(contentText(events.at(-1)?.content), answer);
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

it('events of a workflow contain the name, the path and the run id of their node', async () => {
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

it('an app creates its context cache once, and every model call uses it', async () => {
  let createdCaches = 0;
  const turns = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
  await using server = await openWireServer(geminiWire, turns, (_method, path) =>
    path.endsWith('/cachedContents')
      ? { status: 200, body: { name: `cachedContents/c${++createdCaches}` } }
      : undefined,
  );
  const app = new App({
    name: 'cached_app',
    rootAgent: new LlmAgent({
      name: 'lawyer',
      model: 'gemini-2.5-flash',
      instruction: 'Answer from this law. '.repeat(500),
    }),
    contextCacheConfig: {
      cacheIntervals: 20, // use the same cache for up to 20 invocations
      ttlSeconds: 3600, // keep it for an hour
      minTokens: 1000, // do not cache shorter requests
    },
  });
  const sessionService = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
  await using runner = new Runner({
    app,
    sessionService,
    autoCreateSession: true,
    env: { GEMINI_API_KEY: WIRE_KEY, GEMINI_BASE_URL: server.baseUrl },
  });
  const replies: string[] = [];
  for (const newMessage of ['one', 'two', 'three']) {
    const events = await runner.run({ userId: 'u1', sessionId: 's1', newMessage });
    replies.push(contentText(events.at(-1)?.content));
  }
  assert.deepEqual(replies, ['One.', 'Two.', 'Three.']);
  assert.equal(createdCaches, 1);
  assert.deepEqual(
    server.requests.map(({ body }) => body['cachedContent']),
    ['cachedContents/c1', 'cachedContents/c1', 'cachedContents/c1'],
  );
});
