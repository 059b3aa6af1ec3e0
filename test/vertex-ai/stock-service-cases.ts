/** The fake serves the services of stock ADK over Google's client, so it answers as Agent Engine does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@google-cloud/vertexai';
import {
  createEvent,
  createEventActions,
  VertexAiMemoryBankService,
  VertexAiSessionService,
} from '@google/adk';
import type { Event } from '@google/adk';
import { ENGINE, withFake } from './open-fake.ts';

const ada = { appName: '456', userId: 'ada' } as const;

function say(text: string, timestamp: number, stateDelta: Record<string, unknown> = {}): Event {
  return createEvent({
    invocationId: 'e-1',
    author: 'user',
    timestamp,
    content: { role: 'user', parts: [{ text }] },
    actions: createEventActions({ stateDelta }),
  });
}

test('the session service of stock ADK creates, appends, reads, lists and deletes', async () =>
  withFake(async (fake, apiEndpoint) => {
    const client = new Client({ project: 'p1', location: 'us-central1', apiEndpoint });
    const { sessions } = client.agentEnginesInternal;
    const service = new VertexAiSessionService({ ...ENGINE, sessions });
    const session = await service.createSession({ ...ada, state: { a: 1, 'temp:b': 2 } });
    assert.deepEqual(session.state, { a: 1 });
    const named = await service.createSession({ ...ada, sessionId: 's1' });
    assert.equal(named.id, 's1');
    await assert.rejects(service.createSession({ ...ada, sessionId: 's1' }), { status: 409 });
    await service.appendEvent({ session: named, event: say('one', 1000, { step: 1 }) });
    await service.appendEvent({ session: named, event: say('two', 2000) });
    const read = await service.getSession({ ...ada, sessionId: 's1' });
    assert.deepEqual(
      read?.events.map(({ content }) => content?.parts?.[0]?.text),
      ['one', 'two'],
    );
    assert.deepEqual(read.state, { step: 1 });
    const after = { ...ada, sessionId: 's1', config: { afterTimestamp: 1500 } };
    assert.equal((await service.getSession(after))?.events.length, 1);
    await service.createSession({ appName: '456', userId: 'a"b\\c', sessionId: 's2' });
    fake.behavior.sessionsPerPage = 1;
    const { sessions: listed } = await service.listSessions({ appName: '456', userId: 'ada' });
    assert.equal(listed.length, 2);
    const quoted = await service.listSessions({ appName: '456', userId: 'a"b\\c' });
    assert.deepEqual(
      quoted.sessions.map(({ id }) => id),
      ['s2'],
    );
    await service.deleteSession({ ...ada, sessionId: 's1' });
    assert.equal(await service.getSession({ ...ada, sessionId: 's1' }), undefined);
    fake.behavior.refusesRawEvents = true;
    await service.appendEvent({ session, event: say('structured', 3000) });
    const plain = await service.getSession({ ...ada, sessionId: session.id });
    assert.equal(plain?.events[0]?.content?.parts?.[0]?.text, 'structured');
  }));

test('the memory service of stock ADK generates, consolidates and searches memories', async () =>
  withFake(async (_fake, apiEndpoint) => {
    const client = new Client({ project: 'p1', location: 'us-central1', apiEndpoint });
    const memory = new VertexAiMemoryBankService({ ...ENGINE, client });
    const events = [say('I live in Bergen', 1000), say('I like boats', 2000)];
    const added = { ...ada, events };
    await memory.addEventsToMemory(added);
    await memory.addEventsToMemory(added);
    const { memories } = await memory.searchMemory({ ...ada, query: 'where do I live' });
    assert.deepEqual(
      memories.map(({ content }) => content.parts?.[0]?.text),
      ['I live in Bergen', 'I like boats'],
    );
    const of = await memory.searchMemory({ appName: '456', userId: 'bob', query: 'live' });
    assert.deepEqual(of.memories, []);
  }));
