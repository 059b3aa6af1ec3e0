import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { pending, tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { PendingCallChange } from './watch-pending-calls.ts';

const remove = tool({
  name: 'remove',
  description: 'Removes a file.',
  needsApproval: true,
  execute: () => 'removed',
});

const ask = tool({
  name: 'ask',
  description: 'Asks a person.',
  timeoutMs: 60_000,
});

/** Calls its tool once per message, then answers. */
function caller(name: string, called: Tool): Agent {
  return agent({
    name,
    tools: [called],
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: called.name }] } : { text: 'Done.' },
    ),
  });
}

async function waitFor(runtime: Runtime, count: number): Promise<void> {
  for await (const change of runtime.watchPending()) {
    if (change.type !== 'removed' && change.type !== 'changed') {
      const { calls } = await runtime.pending();
      if (calls.length >= count) return;
    }
  }
}

test('the calls of all sessions that wait are listed by age, filtered and in pages', async () => {
  const clock = new SimulatedClock(1_000);
  await using runtime = await openRuntime({
    agents: [caller('deleter', remove), caller('asker', ask)],
    clock,
  });
  for (const [index, [id, user, name]] of (
    [
      ['a', 'ada', 'deleter'],
      ['b', 'bob', 'asker'],
      ['c', 'ada', 'asker'],
    ] as const
  ).entries()) {
    const session = await runtime.session(id, { user, agent: name });
    await session.send('Go').accepted;
    await waitFor(runtime, index + 1);
    clock.advance(10);
  }
  const { calls, next } = await runtime.pending();
  assert.equal(next, undefined);
  assert.deepEqual(
    calls.map(({ key, agent: by, name, needs, since, expiresAt, reason }) => [
      key.sessionId,
      key.userId,
      by,
      name,
      needs,
      since,
      expiresAt,
      reason,
    ]),
    [
      ['a', 'ada', 'deleter', 'remove', 'approval', 1_000, undefined, 'policy'],
      ['b', 'bob', 'asker', 'ask', 'result', 1_010, 61_010, 'policy'],
      ['c', 'ada', 'asker', 'ask', 'result', 1_020, 61_020, 'policy'],
    ],
  );
  const ids = async (filter: Parameters<Runtime['pending']>[0]): Promise<readonly string[]> =>
    (await runtime.pending(filter)).calls.map(({ key }) => key.sessionId);
  assert.deepEqual(await ids({ user: 'ada' }), ['a', 'c']);
  assert.deepEqual(await ids({ agent: 'asker' }), ['b', 'c']);
  assert.deepEqual(await ids({ tool: 'remove' }), ['a']);
  assert.deepEqual(await ids({ needs: 'result', user: 'bob' }), ['b']);
  const first = await runtime.pending({ limit: 2 });
  assert.deepEqual(await ids({ limit: 2, after: first.next ?? assert.fail() }), ['c']);
  await assert.rejects(runtime.pending({ limit: 0 }), InvalidInputError);
  await assert.rejects(runtime.pending({ after: 'b' }), InvalidInputError);
  // The listed call can be answered with what the listing says.
  const [oldest] = calls;
  const session = await runtime.find(oldest?.key.sessionId ?? '', { user: 'ada' });
  await session?.approve(oldest?.id ?? '', { fingerprint: oldest?.fingerprint ?? '' }).accepted;
  for await (const change of runtime.watchPending())
    if (change.type === 'removed' || (await ids({})).length === 2) break;
  assert.deepEqual(await ids({}), ['b', 'c']);
});

test('watchPending() yields the calls that wait, then each that comes, reports progress and goes', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const agents = [caller('asker', ask)];
  await using runtime = await openRuntime({ agents, store, clock });
  await using other = await openRuntime({ agents, store, clock });
  const first = await runtime.session('first');
  await first.send('Go').accepted;
  await waitFor(runtime, 1);
  const seen: string[] = [];
  const describe = (change: PendingCallChange): string => {
    if (change.type === 'current') return 'current';
    if (change.type === 'removed') return `removed ${change.key.sessionId}`;
    const { key, request, since } = change.call;
    return `${change.type} ${key.sessionId} since ${since} ${JSON.stringify(request ?? null)}`;
  };
  const until = async (last: string): Promise<void> => {
    while (seen.at(-1) !== last) {
      const { value } = await watching.next();
      seen.push(describe(value ?? assert.fail()));
    }
  };
  // The other runtime runs none of these sessions.
  const watching = other.watchPending({ tool: 'ask' })[Symbol.asyncIterator]();
  await until('current');
  const [call] = (await other.pending()).calls;
  clock.advance(5);
  await first.update(call?.id ?? '', { done: 1 });
  await until('changed first since 1000 {"done":1}');
  const second = await runtime.session('second');
  await second.send('Go').accepted;
  await until('added second since 1005 null');
  await first.answer(call?.id ?? '', 'yes').accepted;
  await until('removed first');
  await runtime.delete('second');
  await until('removed second');
  assert.deepEqual(seen, [
    'added first since 1000 null',
    'current',
    'changed first since 1000 {"done":1}',
    'added second since 1005 null',
    'removed first',
    'removed second',
  ]);
});

test('a reader of watchPending() that stalls gets what is left to know, and nothing is missing', async () => {
  await using runtime = await openRuntime({ agents: [caller('asker', ask)] });
  const watching = runtime.watchPending()[Symbol.asyncIterator]();
  assert.equal((await watching.next()).value?.type, 'current');
  const open = new Set<string>();
  for (let n = 0; n < 150; n++) {
    const session = await runtime.session(`s${n}`);
    await session.send('Go').accepted;
    if (n % 3 === 0) {
      await session.interrupt();
      for await (const event of session.events()) if (event.type === 'turn.ended') break;
    } else open.add(session.id);
  }
  const known = new Set<string>();
  while (known.size < open.size) {
    const { value } = await watching.next();
    if (value?.type === 'added') known.add(value.call.key.sessionId);
    else if (value?.type === 'removed') known.delete(value.key.sessionId);
  }
  assert.deepEqual(known, open);
  await watching.return?.();
});

test('a call of a called agent is listed under the session to answer, until the caller stops', async () => {
  const wait = tool({ name: 'wait', description: 'Waits.', execute: () => pending() });
  const clerk = agent({
    name: 'clerk',
    tools: [wait],
    model: new ScriptedModel([{ toolCalls: [{ name: 'wait', args: {} }] }, { text: 'Done.' }]),
  });
  const boss = agent({
    name: 'boss',
    tools: [agentTool(clerk)],
    model: new ScriptedModel([
      { toolCalls: [{ name: 'clerk', args: { request: 'Go' } }] },
      { text: 'Done.' },
    ]),
  });
  await using runtime = await openRuntime({ agents: [boss] });
  const session = await runtime.session('work');
  await session.send('Go').accepted;
  await waitFor(runtime, 1);
  const { calls } = await runtime.pending();
  const [own] = await session.pending();
  const [listed] = calls;
  assert.equal(calls.length, 1);
  assert.deepEqual(
    [listed?.key.sessionId, listed?.agent, listed?.session, listed?.path, listed?.id],
    ['work', 'clerk', own?.session, ['clerk'], own?.id],
  );
  assert.deepEqual((await runtime.pending({ agent: 'boss' })).calls, []);
  const watching = runtime.watchPending()[Symbol.asyncIterator]();
  assert.equal((await watching.next()).value?.type, 'added');
  assert.equal((await watching.next()).value?.type, 'current');
  await session.interrupt();
  const { value } = await watching.next();
  assert.deepEqual(value, { type: 'removed', callId: listed?.id, key: session.key });
  assert.deepEqual((await runtime.pending()).calls, []);
});
