import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../agents/index.ts';
import { isFunctionResponsePart, contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { SimulatedClock } from '../../testing/index.ts';
import { pending, tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';

/** Makes all calls at once, then answers with their results. */
function callsAll(...names: readonly string[]): ScriptedModel {
  return new ScriptedModel(({ contents }) => {
    const results = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
    return results.length === 0
      ? {
          toolCalls: names.map((name) => ({
            name,
            args: name === 'clerk' ? { request: 'Go' } : {},
          })),
        }
      : { text: results.map((one) => JSON.stringify(one.functionResponse.response)).join(' ') };
  });
}

function boss(...tools: readonly Tool[]) {
  const names = tools.map(({ name }) => name);
  const clerk = agent({ name: 'clerk', model: callsAll(...names), tools });
  return agent({ name: 'boss', model: callsAll('clerk'), tools: [agentTool(clerk)] });
}

const buys = (name: string, done: string[] = []): Tool =>
  tool({
    name,
    description: 'Buys.',
    needsApproval: true,
    execute: () => {
      done.push(name);
      return `${name} bought`;
    },
  });

async function lastWords(session: Session): Promise<string> {
  let text = '';
  for await (const event of session.events()) {
    if (event.type === 'agent.message') text = contentText(event.content);
    if (event.type === 'turn.ended') return text;
  }
  return text;
}

test('pending calls of a called agent are answered one by one in the root session, with their path', async () => {
  const done: string[] = [];
  await using runtime = await openRuntime({
    agents: [boss(buys('tea', done), buys('milk', done))],
  });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const [tea, milk] = await session.pending();
  assert.ok(tea && milk);
  assert.deepEqual([tea.name, tea.path, tea.needs], ['tea', ['clerk'], 'approval']);
  const row = await session.status();
  assert.deepEqual(
    row.pending.map(({ callId, path }) => [callId, path]),
    [tea, milk].map(({ callId, path }) => [callId, path]),
  );
  assert.equal(row.pending[0]?.invocationId, tea.invocationId);
  for await (const event of session.approve(tea.id, { fingerprint: tea.fingerprint }))
    if (event.type === 'turn.waiting') assert.deepEqual(event.callIds, [milk.callId]);
  assert.deepEqual(done, ['tea']);
  assert.deepEqual(
    (await session.pending()).map(({ id }) => id),
    [milk.id],
  );
  await assert.rejects(session.approve(tea.id).accepted, { code: 'already_answered' });
  await assert.rejects(session.approve(milk.id, { fingerprint: tea.fingerprint }).accepted, {
    code: 'invalid_input',
  });
  await assert.rejects(session.answer(milk.via ?? 'call', 'x').accepted, {
    code: 'call_not_pending',
  });
  for await (const _ of session.deny(milk.id, { message: 'No milk.' })) void _;
  assert.match(await lastWords(session), /tea bought.*No milk\./);
  assert.deepEqual(done, ['tea']);
  assert.deepEqual(await session.pending(), []);
});

test('pending calls of a called agent can be answered all at once, before the first answer is processed', async () => {
  await using runtime = await openRuntime({ agents: [boss(buys('tea'), buys('milk'))] });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const calls = await session.pending();
  await Promise.all(calls.map(async ({ id }) => session.approve(id).accepted));
  assert.match(await lastWords(session), /tea bought.*milk bought/);
});

test('a call of a called agent that is not answered in time ends, and the calling turn continues', async () => {
  const clock = new SimulatedClock();
  const ask = tool({
    name: 'ask',
    description: 'Asks.',
    execute: () => pending({ request: { why: 'so' }, timeoutMs: 60_000 }),
  });
  await using runtime = await openRuntime({ agents: [boss(ask)], clock });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const [call] = await session.pending();
  assert.deepEqual([call?.needs, call?.request], ['result', { why: 'so' }]);
  clock.advance(60_000);
  assert.match(await lastWords(session), /No answer came within 60 s/);
});

test('a progress update for a call of a called agent is sent through the root session', async () => {
  const ask = tool({ name: 'ask', description: 'Asks.', execute: () => pending() });
  await using runtime = await openRuntime({ agents: [boss(ask)] });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const [call] = await session.pending();
  await session.update(call?.id ?? '', { half: 'done' });
  while ((await session.pending())[0]?.request === undefined) await new Promise(setImmediate);
  assert.deepEqual((await session.pending())[0]?.request, { half: 'done' });
  await session.update(call?.id ?? '', { most: 'done' }, { dedupeKey: 'most' });
  for await (const _ of session.answer(call?.id ?? '', { all: 'done' })) void _;
  assert.match(await lastWords(session), /all.*done/);
  // A caller that did not learn that its update was accepted sends it again.
  const { lastSeq } = await session.status();
  await session.update(call?.id ?? '', { most: 'done' }, { dedupeKey: 'most' });
  assert.equal((await session.status()).lastSeq, lastSeq);
  await assert.rejects(session.update(call?.id ?? '', { late: true }, { dedupeKey: 'late' }), {
    code: 'already_answered',
  });
});

test('interrupting a turn that waits for a called agent interrupts that agent', async () => {
  await using runtime = await openRuntime({ agents: [boss(buys('tea'))] });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const [call] = await session.pending();
  await session.interrupt();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(await session.pending(), []);
  await assert.rejects(session.approve(call?.id ?? '').accepted, { code: 'call_not_pending' });
  const waiting = async (): Promise<boolean> =>
    (await runtime.sessions({ parent: 'work' })).some(({ status }) => status !== 'idle');
  while (await waiting()) await new Promise(setImmediate);
});

/** A store that drops interrupts of called agents, as if the process had died before. */
class DyingStore extends MemoryStore {
  dies = true;

  override async inject(...[key, input, dedupeKey]: Parameters<MemoryStore['inject']>) {
    if (this.dies && input.place === 'interrupt.in' && key.sessionId !== 'work')
      return new Promise<never>(() => {});
    return super.inject(key, input, dedupeKey);
  }
}

test('a called agent whose interrupt was lost in a crash stops when the calling session is opened again', async () => {
  const store = new DyingStore();
  const done: string[] = [];
  const first = await openRuntime({ agents: [boss(buys('tea', done))], store });
  const session = await first.session('work');
  for await (const _ of session.send('Go')) void _;
  const [call] = await session.pending();
  await session.interrupt();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  await first.close();
  store.dies = false;
  await using second = await openRuntime({ agents: [boss(buys('tea', done))], store });
  const again = await second.session('work');
  const isBusy = async (): Promise<boolean> =>
    (await second.sessions({ parent: 'work' })).some(({ status }) => status !== 'idle');
  while (await isBusy()) await new Promise(setImmediate);
  await assert.rejects(again.approve(call?.id ?? '').accepted, { code: 'call_not_pending' });
  assert.deepEqual(done, []);
});

/** A store that holds the message of a called agent until it is released. */
class SlowStore extends MemoryStore {
  readonly writeStarted = Promise.withResolvers<void>();
  readonly readAllowed = Promise.withResolvers<void>();

  override async inject(...[key, input, dedupeKey]: Parameters<MemoryStore['inject']>) {
    if (key.sessionId !== 'work' && input.place === 'user.in') {
      this.writeStarted.resolve();
      await this.readAllowed.promise;
    }
    return super.inject(key, input, dedupeKey);
  }
}

test('a called agent is interrupted even if its call is interrupted while its message is being sent', async () => {
  const store = new SlowStore();
  await using runtime = await openRuntime({ agents: [boss(buys('tea'))], store });
  const session = await runtime.session('work');
  await session.send('Go').accepted;
  await store.writeStarted.promise;
  await session.interrupt();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  store.readAllowed.resolve();
  const [child] = await runtime.sessions({ parent: 'work' });
  const called = await runtime.find(child?.key.sessionId ?? '');
  for await (const event of called?.events() ?? []) {
    assert.notEqual(event.type, 'turn.waiting');
    if (event.type !== 'turn.ended') continue;
    assert.equal(event.stopReason, 'interrupted');
    break;
  }
});

test('a fork of a session that waits for a called agent waits for nothing, and the session continues', async () => {
  await using runtime = await openRuntime({ agents: [boss(buys('tea'))] });
  const session = await runtime.session('work');
  for await (const _ of session.send('Go')) void _;
  const copy = await session.fork({ id: 'copy' });
  assert.deepEqual([(await copy.status()).status, await copy.pending()], ['idle', []]);
  assert.deepEqual(await runtime.sessions({ parent: 'copy' }), []);
  const [call] = await session.pending();
  for await (const _ of session.approve(call?.id ?? '')) void _;
  assert.match(await lastWords(session), /tea bought/);
});
