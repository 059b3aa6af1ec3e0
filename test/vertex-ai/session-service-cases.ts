import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Client } from '@google-cloud/vertexai';
import {
  createEvent,
  createEventActions as createStockActions,
  VertexAiSessionService as StockSessionService,
} from '@google/adk';
import {
  App,
  contentText,
  FunctionTool,
  getFunctionCalls,
  InMemorySessionService,
  LlmAgent,
  Runner,
} from '../../src/adk/index.ts';
import type { SessionService } from '../../src/adk/index.ts';
import { AgentEngine } from '../../src/adk/vertex-ai/agent-engine.ts';
import { AgentEngineSessions } from '../../src/adk/vertex-ai/agent-engine-sessions.ts';
import {
  VertexAiRequestError,
  VertexAiSessionService,
  VertexAiSyncPendingError,
} from '../../src/adk/vertex-ai/index.ts';
import {
  alice,
  event,
  readTexts,
  sessionServiceContract,
} from '../../src/adk/sessions/contract/session-service-cases.ts';
import { isJsonObject } from '../../src/core/index.ts';
import { SqliteSessionService } from '../../src/adk/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { ENGINE, withFake } from './open-fake.ts';

const s1 = { ...alice, sessionId: 's1' } as const;

function createRunner(sessionService: SessionService, answer = 'Hello!'): Runner {
  const usage = { inputTokens: 2, outputTokens: 1, totalTokens: 3 };
  const model = new ScriptedModel(() => ({ text: answer, usage }));
  const rootAgent = new LlmAgent({ name: 'helper', model });
  const app = new App({ name: 'chatbot', rootAgent });
  return new Runner({ app, sessionService });
}

function createStock(apiEndpoint: string): StockSessionService {
  const client = new Client({ project: 'p1', location: 'us-central1', apiEndpoint });
  return new StockSessionService({ ...ENGINE, sessions: client.agentEnginesInternal.sessions });
}

describe('VertexAiSessionService', () => {
  for (const { name, check } of sessionServiceContract)
    it(name, async () =>
      withFake(async (_fake, apiEndpoint) => {
        const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
        try {
          await check(service);
        } finally {
          await service.close();
        }
      }),
    );
});

it('a run continues a session of stock ADK, and stock ADK reads the run', async () =>
  withFake(async (fake, apiEndpoint) => {
    fake.behavior.eventsPerPage = 1;
    const stock = createStock(apiEndpoint);
    const session = await stock.createSession({ ...s1, state: { step: 0, 'user:lang': 'en' } });
    await stock.appendEvent({
      session,
      event: createEvent({
        invocationId: 'e-stock',
        author: 'user',
        timestamp: 1000,
        content: { role: 'user', parts: [{ text: 'I live in Bergen.' }] },
        actions: createStockActions({ stateDelta: { step: 1 } }),
      }),
    });
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const model = new ScriptedModel(({ contents }) => ({
      text: contents.map(contentText).join('|'),
    }));
    const rootAgent = new LlmAgent({ name: 'helper', model, outputKey: 'answer' });
    const runner = new Runner({
      app: new App({ name: 'chatbot', rootAgent }),
      sessionService: service,
    });
    const events = await runner.run({ userId: 'alice', sessionId: 's1', newMessage: 'Where?' });
    const answer = 'I live in Bergen.|Where?';
    assert.deepEqual(contentText(events.at(-1)?.content), answer);
    const state = { step: 1, 'user:lang': 'en', answer };
    assert.deepEqual((await service.getSession(s1))?.state, state);
    await runner.close();
    await service.close();

    fake.behavior.eventsPerPage = 100;
    const read = await stock.getSession(s1);
    assert.deepEqual(
      read?.events.map(({ author, content }) => [author, content?.parts?.[0]?.text]),
      [
        ['user', 'I live in Bergen.'],
        ['user', 'Where?'],
        ['helper', answer],
      ],
    );
    assert.deepEqual(read.state, state);
  }));

it('a session continues with another store, and has the same events and ids', async () =>
  withFake(async (fake, apiEndpoint) => {
    const one = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await one.createSession({ ...s1, state: { a: 1 } });
    const runner = createRunner(one);
    await runner.run({ userId: 'alice', sessionId: 's1', newMessage: 'Hi' });
    const first = await one.getSession(s1);
    await runner.close();
    await one.close();
    const two = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const next = createRunner(two, 'Again!');
    await next.run({ userId: 'alice', sessionId: 's1', newMessage: 'And now?' });
    const read = await two.getSession(s1);
    assert.deepEqual(
      read?.events.slice(0, 2).map(({ id, timestamp, author, content, usageMetadata }) => ({
        id,
        timestamp,
        author,
        content,
        usageMetadata,
      })),
      first?.events.map(({ id, timestamp, author, content, usageMetadata }) => ({
        id,
        timestamp,
        author,
        content,
        usageMetadata,
      })),
    );
    assert.deepEqual(fake.texts('s1'), ['Hi', 'Hello!', 'And now?', 'Again!']);
    await next.close();
    await two.close();
  }));

it('a response that is lost after an append does not append the event twice', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const session = await service.createSession(s1);
    fake.behavior.failure = { path: ':appendEvent', status: 503, afterEffect: true };
    const appended = service.appendEvent({ session, event: event('once') });
    await assert.rejects(appended, (error) => {
      assert.ok(error instanceof VertexAiSyncPendingError);
      assert.ok(error.cause instanceof VertexAiRequestError);
      assert.deepEqual([error.cause.operation, error.cause.status], ['append an event', 503]);
      return true;
    });
    fake.behavior.failure = { path: ':appendEvent', status: 503 };
    await assert.rejects(service.appendEvent({ session, event: event('later') }), {
      code: 'vertex_ai_sync_pending',
    });
    fake.behavior.failure = undefined;
    const read = await service.getSession(s1);
    assert.deepEqual(readTexts(read?.events ?? []), ['once', 'later']);
    assert.deepEqual(fake.texts('s1'), ['once', 'later']);
    await service.close();
  }));

it('of two processes that have the same events to send, one sends them', async () =>
  withFake(async (fake, apiEndpoint, folder) => {
    const options = { ...ENGINE, apiEndpoint, store: join(folder, 'journals.db') };
    const one = new VertexAiSessionService(options);
    const two = new VertexAiSessionService(options);
    const session = await one.createSession(s1);
    fake.behavior.failure = { path: ':appendEvent', status: 503 };
    for (const text of ['one', 'two', 'three'])
      await assert.rejects(one.appendEvent({ session, event: event(text) }));
    fake.behavior.failure = undefined;
    // While the first process waits for the response to its first event, the second one is asked to send.
    let isHeld = false;
    fake.behavior.onResponse = async () => {
      if (isHeld || fake.texts('s1').length === 0) return;
      isHeld = true;
      await two.sync(s1);
    };
    await one.sync(s1);
    assert.deepEqual([isHeld, fake.texts('s1')], [true, ['one', 'two', 'three']]);
    await one.close();
    await two.close();
  }));

it('releases of the API that refuse whole events get all members that they know', async () =>
  withFake(async (fake, apiEndpoint) => {
    fake.behavior.refusesRawEvents = true;
    const one = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await one.createSession(s1);
    const runner = createRunner(one);
    const events = await runner.run({ userId: 'alice', sessionId: 's1', newMessage: 'Hi' });
    const usageMetadata = events[0]?.usageMetadata;
    assert.ok(usageMetadata !== undefined);
    await runner.close();
    await one.close();
    const members = fake.events('s1').map(({ actions }) => Object.keys(Object(actions)).toSorted());
    const known = ['artifactDelta', 'requestedAuthConfigs', 'stateDelta'];
    assert.deepEqual(members, [known, known]);
    const two = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const read = await two.getSession(s1);
    assert.deepEqual(readTexts(read?.events ?? []), ['Hi', 'Hello!']);
    const answer = read?.events[1];
    assert.deepEqual([answer?.usageMetadata, answer?.customMetadata], [usageMetadata, undefined]);
    await two.close();
  }));

it('a run does not begin while Vertex AI cannot be reached; one that ended is reported and sent later', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await service.createSession(s1);
    const errors: unknown[] = [];
    const model = new ScriptedModel(() => {
      fake.behavior.failure = { path: '/events', status: 500 };
      return { text: 'Hello!' };
    });
    const app = new App({ name: 'chatbot', rootAgent: new LlmAgent({ name: 'helper', model }) });
    const runner = new Runner({
      app,
      sessionService: service,
      onError: (error) => void errors.push(error),
    });
    const message = { userId: 'alice', sessionId: 's1', newMessage: 'Hi' } as const;
    assert.equal((await runner.run(message)).length, 1);
    assert.deepEqual(
      errors.map((error) => error instanceof VertexAiRequestError && error.status),
      [500],
    );
    await assert.rejects(runner.run(message), { code: 'vertex_ai_request_failed', status: 500 });
    assert.deepEqual(fake.texts('s1'), []);
    fake.behavior.failure = undefined;
    await service.sync(s1);
    assert.deepEqual(fake.texts('s1'), ['Hi', 'Hello!']);
    await runner.close();
    await service.close();
  }));

it('sessions of other users are not read, run or deleted', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await service.createSession(s1);
    const bobs = { ...s1, userId: 'bob' };
    assert.equal(await service.getSession(bobs), undefined);
    await assert.rejects(service.createSession(bobs), { code: 'session_exists' });
    await service.deleteSession(bobs);
    assert.equal(fake.sessions.size, 1);
    const runner = createRunner(service);
    await assert.rejects(runner.run({ userId: 'bob', sessionId: 's1', newMessage: 'Hi' }), {
      code: 'session_not_found',
    });
    await service.deleteSession(s1);
    await assert.rejects(runner.run({ userId: 'alice', sessionId: 's1', newMessage: 'Hi' }), {
      code: 'session_not_found',
    });
    await runner.close();
    await service.close();
  }));

it('a session that was deleted and created again elsewhere has none of the former events', async () =>
  withFake(async (_fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const session = await service.createSession({ ...s1, state: { a: 1 } });
    await service.appendEvent({ session, event: event('former') });
    const stock = createStock(apiEndpoint);
    await stock.deleteSession(s1);
    assert.equal(await service.getSession(s1), undefined);
    await stock.createSession({ ...s1, state: { b: 2 } });
    const read = await service.getSession(s1);
    assert.deepEqual([read?.state, read?.events], [{ b: 2 }, []]);
    await service.close();
  }));

it('a session of the store that is not kept in Vertex AI is neither replaced nor sent', async () =>
  withFake(async (fake, apiEndpoint, folder) => {
    const file = join(folder, 'sessions.db');
    const plain = new SqliteSessionService(file);
    await plain.createSession({ ...s1, state: { own: true } });
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint, store: file });
    await assert.rejects(service.createSession(s1), { code: 'session_exists' });
    assert.equal(fake.sessions.size, 0);
    await createStock(apiEndpoint).createSession(s1);
    await assert.rejects(service.getSession(s1), { code: 'invalid_input', field: 'sessionId' });
    await service.deleteSession(s1);
    assert.deepEqual((await plain.getSession(s1))?.state, { own: true });
    await service.close();
    await plain.close();
  }));

it('a new session is waited for, and may have a lifetime', async () =>
  withFake(async (fake, apiEndpoint) => {
    fake.behavior.pollsToCreate = 2;
    const slept: number[] = [];
    const sessions = new AgentEngineSessions(
      new AgentEngine({ ...ENGINE, apiEndpoint }),
      async (ms) => slept.push(ms),
    );
    const created = await sessions.create('reasoningEngines/456', { userId: 'u', ttl: '60s' });
    assert.deepEqual([created.userId, slept], ['u', [1000, 1000]]);
    fake.behavior.pollsToCreate = 31;
    await assert.rejects(sessions.create('reasoningEngines/456', { userId: 'u' }), {
      code: 'vertex_ai_request_failed',
    });
    assert.equal(slept.length, 32);
    assert.equal([...fake.sessions.values()][0]?.resource['ttl'], '60s');
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    const both = { ...alice, ttl: '60s', expireTime: '2030-01-01T00:00:00Z' };
    await assert.rejects(service.createSession(both), { code: 'invalid_input' });
    await service.close();
  }));

it('requests go to the configured Agent Engine only, whatever the names contain', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    for (const sessionId of ['../../../x', 'a/b', 'a?b', 'a#b', '..', 'é', '%2e%2e'])
      await assert.rejects(service.getSession({ ...alice, sessionId }), { code: 'invalid_input' });
    assert.deepEqual(fake.requests, []);
    const { agentEngineId: _, ...project } = ENGINE;
    const byApp = new VertexAiSessionService({ ...project, apiEndpoint });
    await assert.rejects(byApp.createSession(alice), { code: 'invalid_input', field: 'appName' });
    await byApp.createSession({ appName: '789', userId: 'u' });
    assert.deepEqual(fake.requests.slice(0, 1), [
      'POST /v1beta1/projects/p1/locations/us-central1/reasoningEngines/789/sessions',
    ]);
    await service.close();
    await byApp.close();
    for (const wrong of [
      { projectId: 'a/b' },
      { location: undefined },
      { agentEngineId: '4/5' },
      { apiEndpoint: 'http://example.com' },
      { apiEndpoint: 'https://user:secret@example.com' },
      { apiEndpoint: 'ftp://127.0.0.1' },
    ])
      assert.throws(
        () => new VertexAiSessionService({ ...ENGINE, ...wrong } as never),
        (error: Error) =>
          'code' in error && error.code === 'invalid_input' && !error.message.includes('secret'),
      );
  }));

it('no error contains a credential', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    for (const path of ['/v1/token', '/sessions']) {
      fake.behavior.failure = { path, status: 403 };
      await assert.rejects(service.createSession(s1), (error) => {
        assert.ok(error instanceof VertexAiRequestError);
        const text = inspect(error, { depth: 20, showHidden: true });
        assert.doesNotMatch(text, /token-of-the-fake/);
        return true;
      });
    }
    await service.close();
  }));

it('a piece of a response is not imported, and events of other programs may leave out members', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await service.createSession(s1);
    const stored = fake.sessions.get('456/s1');
    const base = { author: 'helper', invocationId: 'e-1', timestamp: '2026-01-01T00:00:00.5Z' };
    stored?.events.push(
      {
        ...base,
        name: 'x/events/1',
        eventMetadata: { partial: true },
        content: { parts: [{ text: 'h' }] },
      },
      {
        ...base,
        name: 'x/events/2',
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'f' } }, { executableCode: { code: '1' } }],
        },
        actions: { transferAgent: 'other', stateDelta: { k: 1 } },
        eventMetadata: {
          longRunningToolIds: ['a'],
          customMetadata: { mine: 1, _usage_metadata: { totalTokenCount: 3 } },
        },
      },
      { ...base, name: 'x/events/3', timestamp: '2026-01-01T00:00:01Z' },
    );
    const read = await service.getSession(s1);
    const [call, empty, ...rest] = read?.events ?? [];
    assert.deepEqual(rest, []);
    assert.deepEqual([empty?.id, empty?.content], ['3', undefined]);
    assert.deepEqual(call?.content?.parts, [
      { functionCall: { id: '2-0', name: 'f', args: {} } },
      { opaque: { executableCode: { code: '1' } } },
    ]);
    assert.equal(call.timestamp, Date.parse('2026-01-01T00:00:00.5Z') / 1000);
    assert.equal(call.actions.transferToAgent, 'other');
    assert.deepEqual(
      [call.customMetadata, call.usageMetadata],
      [{ mine: 1 }, { totalTokenCount: 3 }],
    );
    assert.deepEqual(read?.state, { k: 1 });
    assert.equal(stored?.events.length, 3);
    assert.ok(stored.events.every((one) => !isJsonObject(one['rawEvent'])));
    await service.close();
  }));

/** Calls two tools, one of which waits for an approval, then answers with what it was asked for. */
function createClerk(): { readonly app: App; readonly model: ScriptedModel } {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name: 'look' }, { name: 'pay' }] }
      : { text: `Answer ${contents.length}` },
  );
  const parameters = { type: 'object', properties: {} } as const;
  const look = new FunctionTool({
    name: 'look',
    description: 'Looks',
    parameters,
    readOnly: true,
    execute: async (_args, { state }) => {
      state.set('seen', true);
      return { seen: true };
    },
  });
  const pay = new FunctionTool({
    name: 'pay',
    description: 'Pays',
    parameters,
    needsApproval: true,
    execute: async () => ({ paid: true }),
  });
  const rootAgent = new LlmAgent({ name: 'clerk', model, tools: [look, pay] });
  return { app: new App({ name: 'chatbot', rootAgent }), model };
}

/** Runs a message and approves the call that waits. Exchanges events after every event of the run. */
async function runApproved(
  runner: Runner,
  service: SessionService,
  newMessage: string,
): Promise<void> {
  const who = { userId: 'alice', sessionId: 's1' } as const;
  const asked: string[] = [];
  for await (const { content } of runner.runAsync({ ...who, newMessage })) {
    await service.sync?.(s1);
    for (const { id, name } of content === undefined ? [] : getFunctionCalls(content))
      if (name === 'adk_request_confirmation') asked.push(id);
  }
  assert.equal(asked.length, 1);
  const [id = ''] = asked;
  const response = { confirmed: true };
  const part = { functionResponse: { id, name: 'adk_request_confirmation', response } };
  const answer = { role: 'user', parts: [part] } as const;
  for await (const _event of runner.runAsync({ ...who, newMessage: answer }))
    await service.sync?.(s1);
}

it('events of a turn are sent once and in order, however often the session is exchanged while it runs', async () =>
  withFake(async (fake, apiEndpoint) => {
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await service.createSession(s1);
    const { app } = createClerk();
    const runner = new Runner({ app, sessionService: service });
    await runApproved(runner, service, 'First');
    const { events = [], state } = (await service.getSession(s1)) ?? {};
    const markers = fake.events('s1').map(({ rawEvent }) => Object(rawEvent).id);
    assert.deepEqual(
      markers,
      events.map(({ id }) => id),
    );
    assert.deepEqual([state, events.length > 5], [{ seen: true }, true]);
    await runner.close();
    await service.close();
  }));

/** Runs two messages, takes the second one back, and returns what the model then reads, without ids. */
async function readConversation(
  service: SessionService,
  openNext: () => SessionService,
): Promise<readonly unknown[]> {
  const { app } = createClerk();
  const runner = new Runner({ app, sessionService: service });
  await runApproved(runner, service, 'First');
  await runApproved(runner, service, 'Taken back');
  const { events = [] } = (await service.getSession(s1)) ?? {};
  const { invocationId: rewindBeforeInvocationId = '' } =
    events.find(({ content }) => contentText(content) === 'Taken back') ?? {};
  await runner.rewind({ userId: 'alice', sessionId: 's1', rewindBeforeInvocationId });
  await service.sync?.(s1);
  await runner.close();
  const clerk = createClerk();
  const sessionService = openNext();
  const next = new Runner({ app: clerk.app, sessionService });
  await next.run({ userId: 'alice', sessionId: 's1', newMessage: 'Go on' });
  await next.close();
  await sessionService.close();
  // Results of one answer are one content or several.
  const parts = (clerk.model.requests[0]?.contents ?? []).flatMap((content) =>
    content.parts.map((part) => [content.role, part]),
  );
  return JSON.parse(JSON.stringify(parts).replaceAll(/call_[0-9a-f]+_/g, 'call_'));
}

it('a model reads the same conversation with another store, without what was rewound', async () =>
  withFake(async (_fake, apiEndpoint) => {
    const plain = new InMemorySessionService();
    await plain.createSession(s1);
    const expected = await readConversation(plain, () => plain);
    const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint });
    await service.createSession(s1);
    const read = await readConversation(
      service,
      () => new VertexAiSessionService({ ...ENGINE, apiEndpoint }),
    );
    await service.close();
    assert.deepEqual(
      expected.map((part) => /First|Go on|Answer|"pay"|"look"/.exec(JSON.stringify(part))?.[0]),
      ['First', '"look"', '"pay"', '"look"', '"pay"', 'Answer', 'Go on'],
    );
    assert.deepEqual(read, expected);
  }));
