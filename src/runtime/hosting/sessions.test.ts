import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';
import type { Turn } from '../session/turn.ts';

/** Answers with the number of messages in its request, and the last one. */
const echo = (name = 'echo'): Agent =>
  agent({
    name,
    model: new ScriptedModel(({ contents }, turn) => ({
      text: `${turn + 1}: ${contentText(contents.at(-1))}`,
    })),
  });

async function readAnswer(turn: Turn): Promise<string> {
  let text = '';
  for await (const event of turn)
    if (event.type === 'agent.message') text = contentText(event.content);
  return text;
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

test('two sessions run concurrently and independently', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const [a, b] = await Promise.all([runtime.session('a'), runtime.session('b')]);
  assert.deepEqual(
    await Promise.all([
      readAnswer(a.send('from a')),
      readAnswer(b.send('from b')),
      readAnswer(a.send('again')),
    ]),
    ['1: from a', '1: from b', '2: again'],
  );
  assert.deepEqual(
    (await readLog(b)).map(({ seq, type }) => [seq, type]),
    [
      [1, 'user.message'],
      [2, 'turn.started'],
      [3, 'agent.message'],
      [4, 'turn.ended'],
    ],
  );
});

test('equal ids of different users are different sessions', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const ada = await runtime.session('chat', { user: 'ada' });
  const bob = await runtime.session('chat', { user: 'bob' });
  await readAnswer(ada.send('secret of ada'));
  assert.equal(await readAnswer(bob.send('hello')), '1: hello');
  assert.equal((await readLog(ada)).length, 4);
  assert.ok(!JSON.stringify(await readLog(bob)).includes('secret'));
  assert.equal(await runtime.find('chat', { user: 'eve' }), undefined);
  assert.equal(await runtime.find('chat'), undefined);
  assert.deepEqual(
    (await runtime.sessions({ user: 'ada' })).map(({ key }) => key),
    [{ appName: 'petrichor', userId: 'ada', sessionId: 'chat' }],
  );
  assert.equal(await runtime.delete('chat', { user: 'bob' }), true);
  assert.equal(await readAnswer(ada.send('still here')), '2: still here');
});

test('sessions are listed by creation, in pages, in both directions', async () => {
  const clock = new SimulatedClock();
  await using runtime = await openRuntime({ agents: [echo()], clock });
  for (const id of ['one', 'two', 'three']) {
    const session = await runtime.session(id);
    clock.advance(1000);
    await readAnswer(session.send('hello'));
  }
  clock.advance(1000);
  const first = await runtime.session('one');
  await readAnswer(first.send('again'));
  const oldestFirst = { order: 'created', direction: 'ascending', limit: 2 } as const;
  const page = await runtime.sessions(oldestFirst);
  assert.deepEqual(listIds(page), ['one', 'two']);
  const [, second] = page;
  assert.ok(second);
  await runtime.delete('two');
  assert.deepEqual(listIds(await runtime.sessions({ ...oldestFirst, after: second })), ['three']);
  assert.deepEqual(listIds(await runtime.sessions({ order: 'created' })), ['three', 'one']);
  assert.deepEqual(listIds(await runtime.sessions()), ['one', 'three']);
});

test('equal ids of different apps on one store are different sessions', async () => {
  const store = new MemoryStore();
  await using one = await openRuntime({ agents: [echo()], store, app: 'one' });
  await using two = await openRuntime({ agents: [echo()], store, app: 'two' });
  const [a, b] = [await one.session('chat'), await two.session('chat')];
  assert.deepEqual(await Promise.all([readAnswer(a.send('x')), readAnswer(b.send('y'))]), [
    '1: x',
    '1: y',
  ]);
  assert.equal((await one.sessions()).length, 1);
});

test('find does not create a session', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  assert.equal(await runtime.find('nobody'), undefined);
  assert.equal(await runtime.find('nobody'), undefined);
  assert.deepEqual(await runtime.sessions(), []);
  const created = await runtime.session('somebody');
  await readAnswer(created.send('hello'));
  const found = await runtime.find('somebody');
  assert.equal((await found?.status())?.lastSeq, 4);
});

test('an unknown agent, and an agent that is not the session’s, are rejected by name', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [echo('one'), echo('two')], store });
  await assert.rejects(runtime.session('x'), { code: 'unknown_agent' });
  await assert.rejects(runtime.session('x', { agent: 'three' }), {
    code: 'unknown_agent',
    agent: 'three',
  });
  assert.equal(await runtime.find('x'), undefined);
  assert.equal((await runtime.session('x', { agent: 'two' })).agent, 'two');
  await assert.rejects(runtime.session('x', { agent: 'one' }), { code: 'agent_mismatch' });
  // The agent is needed only once.
  assert.equal((await runtime.session('x')).agent, 'two');
  await using other = await openRuntime({ agents: [echo('one')], store });
  await assert.rejects(other.session('x'), { code: 'unknown_agent' });
  await assert.rejects(other.find('x'), { code: 'unknown_agent' });
});

test('an id that is not a valid key is rejected before anything is written', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  await assert.rejects(runtime.session(''), { code: 'invalid_input' });
  await assert.rejects(runtime.session('x', { user: '' }), { code: 'invalid_input' });
  assert.deepEqual(await runtime.sessions(), []);
});

test('a deleted session is gone, and a new one with the same id starts empty', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const old = await runtime.session('x');
  await readAnswer(old.send('one'));
  assert.equal(await runtime.delete('x'), true);
  assert.equal(await runtime.delete('x'), false);
  await assert.rejects(old.status(), { code: 'session_not_found' });
  await assert.rejects(old.send('two').accepted, { code: 'session_not_found' });
  await assert.rejects(readLog(old), { code: 'session_not_found' });
  const fresh = await runtime.session('x');
  assert.equal(await readAnswer(fresh.send('three')), '1: three');
});

for (const [how, again] of [
  ['found again', async (runtime: Runtime) => runtime.find('x')],
  ['opened again', async (runtime: Runtime) => runtime.session('x')],
] as const)
  test(`a session that another runtime deleted and created again is the new one: ${how}`, async () => {
    const store = new MemoryStore();
    await store.join('other');
    await using runtime = await openRuntime({ agents: [echo()], store });
    const old = await runtime.session('x');
    await readAnswer(old.send('one'));
    const { netHash } = await old.status();
    // Immediately, so the host of the old one has no time to notice.
    const deleted = store.delete(old.key);
    const created = store.create(old.key, { agent: 'echo', owner: 'other', at: 1, netHash });
    await Promise.all([deleted, created]);
    await store.leave('other');
    const session = (await again(runtime)) ?? assert.fail();
    assert.equal(await readAnswer(session.send('two')), '1: two');
  });

test('a host tolerates that another runtime deletes its session', async () => {
  const errors: unknown[] = [];
  const store = new MemoryStore();
  await using runtime = await openRuntime({
    agents: [echo()],
    store,
    onError: (error) => errors.push(error),
  });
  const session = await runtime.session('x');
  await readAnswer(session.send('one'));
  await store.delete(session.key);
  assert.equal(await runtime.find('x'), undefined);
  const fresh = await runtime.session('x');
  assert.equal(await readAnswer(fresh.send('two')), '1: two');
  assert.deepEqual(errors, []);
});

test('deleting a session stops its running effects', async () => {
  const began = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const model = {
    name: 'slow',
    generate: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      began.resolve();
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          stopped.resolve();
          reject(new Error('stopped'));
        }),
      );
    },
  };
  await using runtime = await openRuntime({ agents: [agent({ name: 'slow', model })] });
  const session = await runtime.session('x');
  session.send('go');
  await began.promise;
  await runtime.delete('x');
  await stopped.promise;
});

test('sessions() lists every session, last changed first, in pages', async () => {
  const clock = new SimulatedClock(1_000);
  await using runtime = await openRuntime({ agents: [echo()], clock });
  for (const id of ['a', 'b', 'c']) {
    const session = await runtime.session(id);
    await readAnswer(session.send('hello'));
    clock.advance(1);
  }
  const ids = async (filter: Parameters<typeof runtime.sessions>[0]): Promise<readonly string[]> =>
    (await runtime.sessions(filter)).map(({ key }) => key.sessionId);
  assert.deepEqual(await ids({}), ['c', 'b', 'a']);
  assert.deepEqual(await ids({ limit: 2 }), ['c', 'b']);
  const after = { appName: 'petrichor', userId: 'default', sessionId: 'b' };
  assert.deepEqual(await ids({ limit: 2, after }), ['a']);
  assert.deepEqual(await ids({ agent: 'nobody' }), []);
});

function listIds(rows: readonly SessionRow[]): readonly string[] {
  return rows.map(({ key }) => key.sessionId);
}
