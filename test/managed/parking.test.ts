import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveCallId, deriveEventId, deriveInvocationId } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedFixture, deployTool, countingTool } from './managed-fixture.ts';
import type { ManagedFixture } from './managed-fixture.ts';

const deploy = (target: string): { name: string; args: { target: string } } => ({
  name: 'deploy',
  args: { target },
});
const one = [{ toolCalls: [deploy('prod')] }, { text: 'Done.' }];
const three = [{ toolCalls: [deploy('a'), deploy('b'), deploy('c')] }, { text: 'All done.' }];
const tools = { definition: { tools: [deployTool] } };

async function result(on: ManagedFixture, id: string, text = 'ok', more = {}): Promise<void> {
  await on.runtime.sendEvent(on.id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [{ type: 'text', text }],
    ...more,
  });
}

const waits = (log: readonly LogEvent[]): readonly number[] =>
  log.flatMap((event) => (event.type === 'turn.waiting' ? [event.callIds.length] : []));

const shownToModel = (on: ManagedFixture): string =>
  JSON.stringify(on.model.requests.at(-1)?.contents);

test('a result reaches the model, whichever of its ids the client answers', async () => {
  for (const by of ['call', 'event', 'provider'] as const) {
    await using on = await openManagedFixture(
      [{ toolCalls: [{ ...deploy('prod'), id: 'ctu_deploy_001' }] }, { text: 'Done.' }],
      tools,
    );
    await on.send('Deploy');
    const log = await on.until('turn.waiting');
    const call = log.find((event) => event.type === 'tool.call');
    const [session] = await on.store.list({});
    const ids = {
      call: call?.callId ?? '',
      event: deriveEventId(session?.uid ?? '', call?.seq ?? 0),
      provider: 'ctu_deploy_001',
    };
    await result(on, ids[by], '{"url":"https://x"}');
    await on.until('turn.ended');
    assert.match(shownToModel(on), /"response":\{"url":"https:\/\/x"\}/);
  }
});

test('results come in any order, and what is left is said again after each', async () => {
  await using on = await openManagedFixture(three, tools);
  await on.send('Deploy all');
  await on.until('turn.waiting');
  assert.equal(await on.status(), 'idle');
  const ids = (await on.runtime.pending(on.id)).map(({ callId }) => callId);
  for (const index of [2, 0, 1]) {
    const { length } = await on.log();
    await result(on, ids[index] ?? '', `result ${index}`);
    await on.until(index === 1 ? 'turn.ended' : 'turn.waiting', length);
  }
  const log = await on.log();
  assert.deepEqual(waits(log), [3, 2, 1]);
  assert.match(shownToModel(on), /result 0.*result 1.*result 2/);
  assert.equal(on.model.requests.length, 2);
});

test('a second result is refused and changes nothing', async () => {
  await using on = await openManagedFixture(one, tools);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  await result(on, call?.callId ?? '', 'first');
  await on.until('turn.ended');
  const before = await on.log();
  await assert.rejects(result(on, call?.callId ?? '', 'second'), { code: 'already_answered' });
  assert.deepEqual(await on.log(), before);
  assert.match(shownToModel(on), /first/);
});

test('of two results at once one counts', async () => {
  await using on = await openManagedFixture(one, tools);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  const id = call?.callId ?? '';
  const both = await Promise.allSettled([result(on, id, 'a'), result(on, id, 'b')]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('a result for a call that was never made is rejected', async () => {
  await using on = await openManagedFixture(one, tools);
  await assert.rejects(result(on, 'call_none'), { code: 'call_not_pending' });
  await on.send('Deploy');
  await on.until('turn.waiting');
  const before = await on.log();
  await assert.rejects(result(on, 'call_none'), { code: 'call_not_pending' });
  assert.deepEqual(await on.log(), before);
});

test('a result that is sent before its call is there counts when it comes', async () => {
  await using on = await openManagedFixture([{ ...one[0], delayMs: 30 }, { text: 'Done.' }], tools);
  const { invocationId } = await on.runtime.sendEvent(
    on.id,
    { type: 'user.message', content: 'Deploy' },
    { dedupeKey: 'm1' },
  );
  assert.equal(invocationId, deriveInvocationId('m1'));
  await on.until('turn.started');
  await result(on, deriveCallId(invocationId ?? '', 0, 0), 'early');
  await assert.rejects(result(on, deriveCallId(invocationId ?? '', 0, 0), 'twice'), {
    code: 'already_answered',
  });
  await on.until('turn.ended');
  assert.match(shownToModel(on), /early/);
});

test('an unanswered call times out after five minutes, and the model gets the error', async () => {
  await using on = await openManagedFixture(one, tools);
  await on.send('Deploy');
  await on.until('turn.waiting');
  on.clock.advance(299_999);
  assert.equal((await on.runtime.pending(on.id)).length, 1);
  on.clock.advance(1);
  const log = await on.until('turn.ended');
  const ended = log.find((event) => event.type === 'tool.result');
  assert.equal(ended?.outcome, 'timeout');
  assert.match(shownToModel(on), /No answer came within 300 s/);
  const late = result(on, ended?.callId ?? '');
  await assert.rejects(late, { code: 'call_not_pending' });
});

test('a tool sets how long its calls wait', async () => {
  const definition = { tools: [{ ...deployTool, timeout_ms: 1000 }] };
  await using on = await openManagedFixture(one, { definition });
  await on.send('Deploy');
  await on.until('turn.waiting');
  on.clock.advance(1000);
  assert.match(JSON.stringify(await on.until('turn.ended')), /within 1 s/);
});

test('a client reports that its tool failed', async () => {
  await using on = await openManagedFixture(one, tools);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  await result(on, call?.callId ?? '', 'no such target', { is_error: true });
  await on.until('turn.ended');
  assert.match(shownToModel(on), /"isError":true/);
});

test('a call waits on in the next process, its clock too', async () => {
  const first = await openManagedFixture(one, tools);
  const { store } = first;
  await first.send('Deploy');
  await first.until('turn.waiting');
  first.clock.advance(100_000);
  await first.runtime.close();
  await using second = await openManagedFixture(one, { ...tools, store, sessionId: first.id });
  second.clock.advance(299_999);
  assert.equal((await second.runtime.pending(second.id)).length, 1);
  const [call] = await second.runtime.pending(second.id);
  await result(second, call?.callId ?? '');
  await second.until('turn.ended');
});

test('another process answers a call', async () => {
  await using first = await openManagedFixture(one, tools);
  await first.send('Deploy');
  await first.until('turn.waiting');
  await using second = await openManagedFixture(one, {
    ...tools,
    store: first.store,
    sessionId: first.id,
  });
  const [call] = await second.runtime.pending(second.id);
  await result(second, call?.callId ?? '', 'from elsewhere');
  await first.until('turn.ended');
  const models = [first.model, second.model].flatMap(({ requests }) => requests);
  assert.equal(models.length, 2);
});

test('the client runs the built-in tools of a session that it hosts itself', async () => {
  const search = countingTool('web_search');
  await using on = await openManagedFixture(
    [{ toolCalls: [{ name: 'web_search', args: {} }] }, { text: 'Found.' }],
    { tools: [search], definition: { tools: [{ type: 'web_search' }] } },
  );
  const [agent] = (await on.runtime.listAgents()).data;
  const { id } = await on.runtime.startSession(
    agent?.id ?? '',
    { userId: 'ada' },
    { environment: { selfHosted: true } },
  );
  await on.runtime.sendEvent(id, { type: 'user.message', content: 'Search' });
  for await (const event of on.runtime.streamLog(id, 0)) if (event.type === 'turn.waiting') break;
  const [call] = await on.runtime.pending(id);
  await on.runtime.sendEvent(id, {
    type: 'user.tool_result',
    tool_use_id: call?.callId ?? '',
    content: [{ type: 'text', text: 'three pages' }],
  });
  const types: string[] = [];
  for await (const { type } of on.runtime.streamEvents(id, 0)) {
    types.push(type);
    if (type === 'status.idle') break;
  }
  assert.deepEqual(types, ['status.running', 'agent.tool_use', 'agent.message', 'status.idle']);
  assert.deepEqual(search.ran, []);
  assert.match(shownToModel(on), /three pages/);
});

test('an id of a provider that looks like one of ours is answered too', async () => {
  await using on = await openManagedFixture(
    [{ toolCalls: [{ ...deploy('prod'), id: 'call_Ab3dE' }] }, { text: 'Done.' }],
    tools,
  );
  await on.send('Deploy');
  await on.until('turn.waiting');
  await result(on, 'call_Ab3dE', 'fine');
  await on.until('turn.ended');
  assert.match(shownToModel(on), /fine/);
});

test('a result that can belong to no call of the turn is refused while it runs', async () => {
  await using on = await openManagedFixture([{ text: 'Never.', delayMs: 600_000 }], tools);
  await on.send('Deploy');
  await on.until('turn.started');
  for (const id of ['call_none', 'ctu_1', deriveCallId(deriveInvocationId('another'), 0, 0)])
    await assert.rejects(result(on, id), { code: 'call_not_pending' });
});
