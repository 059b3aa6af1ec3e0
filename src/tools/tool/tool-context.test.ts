import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryArtifactService } from '../artifacts/in-memory-artifact-service.ts';
import { InMemoryMemoryService } from '../memory/in-memory-memory-service.ts';
import { openToolContext, type ToolRun } from './tool-context.ts';

function createRun(progress: (text: string) => void = () => undefined): ToolRun {
  return {
    callId: 'c1',
    invocationId: 'e-1',
    sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
    agentName: 'assistant',
    signal: new AbortController().signal,
    firingId: 'f1',
    attempt: 2,
    userContent: { role: 'user', parts: [{ text: 'Hello' }] },
    snapshot: new Map([['n', 1]]),
    progress,
  };
}

test('a tool knows its call, its attempt and its session', () => {
  const run = createRun();
  const { context } = openToolContext(run);
  const { snapshot: _snapshot, ...expected } = run;
  assert.partialDeepStrictEqual(context, expected);
});

test('state writes and actions of a tool are returned together', () => {
  const { context, take } = openToolContext(createRun());
  context.state.increment('n');
  context.act({ escalate: true, transferToAgent: 'a' });
  context.act({ transferToAgent: 'billing' });
  assert.deepEqual(take(), {
    writes: { set: {}, delete: [], increment: { n: 1 }, append: {}, read: [] },
    actions: { escalate: true, transferToAgent: 'billing' },
  });
});

test('calls of a tool after its end have no effect', () => {
  const { context, take } = openToolContext(createRun());
  const taken = take();
  context.state.set('n', 99);
  context.act({ escalate: true });
  assert.deepEqual(taken.writes.set, {});
  assert.deepEqual(taken.actions, {});
});

test('progress is passed on at once, and the methods of a context can be destructured', () => {
  const progressTexts: string[] = [];
  const { progress, state } = openToolContext(
    createRun((text) => progressTexts.push(text)),
  ).context;
  progress('half');
  const { get, set } = state;
  set('n', 2);
  assert.deepEqual([progressTexts, get('n')], [['half'], 2]);
  assert.equal('takeWrites' in state, false);
});

test('an artifact version that a tool saved is reported with its result, and is not saved again when the tool reruns', async () => {
  const artifacts = new InMemoryArtifactService();
  const save = async (texts: readonly string[]): Promise<unknown> => {
    const { context, take } = openToolContext({ ...createRun(), services: { artifacts } });
    for (const text of texts) await context.artifacts.save('notes.txt', { text });
    return take().actions;
  };
  assert.deepEqual(await save(['a', 'a']), { artifactDelta: { 'notes.txt': 1 } });
  // The same firing, after a crash.
  assert.deepEqual(await save(['a', 'a']), { artifactDelta: { 'notes.txt': 1 } });
  assert.deepEqual(await save(['a', 'b']), { artifactDelta: { 'notes.txt': 2 } });
  const { context } = openToolContext({ ...createRun(), services: { artifacts } });
  assert.deepEqual(await context.artifacts.list(), ['notes.txt']);
  assert.deepEqual(await context.artifacts.load('notes.txt'), { text: 'b' });
  assert.deepEqual(await context.artifacts.load('notes.txt', 0), { text: 'a' });
  assert.equal(await context.artifacts.load('other'), undefined);
});

test('a tool finds what its own user said in other sessions, and nothing of other users', async () => {
  const memory = new InMemoryMemoryService();
  const entry = (id: string, text: string) => ({
    id,
    author: 'user',
    at: 1,
    content: { role: 'user' as const, parts: [{ text }] },
  });
  await memory.add({ appName: 'a', userId: 'u', sessionId: 'before' }, [entry('1', 'I like tea.')]);
  await memory.add({ appName: 'a', userId: 'v', sessionId: 'other' }, [entry('1', 'Tea? Never.')]);
  const { context } = openToolContext({ ...createRun(), services: { memory } });
  assert.deepEqual(await context.memory.search('tea'), [entry('1', 'I like tea.')]);
});

test('the error for a missing service names the option to configure', async () => {
  const { artifacts, memory } = openToolContext(createRun()).context;
  const requests = [artifacts.save('a', { text: '' }), artifacts.load('a'), artifacts.list()];
  for (const one of requests)
    await assert.rejects(one, { code: 'no_service', message: /\{ artifacts \}/ });
  await assert.rejects(memory.search('x'), { code: 'no_service', message: /\{ memory \}/ });
});
