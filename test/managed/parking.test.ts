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
const oneCall = [{ toolCalls: [deploy('prod')] }, { text: 'Done.' }];
const threeCalls = [{ toolCalls: [deploy('a'), deploy('b'), deploy('c')] }, { text: 'All done.' }];
const withDeployTool = { definition: { tools: [deployTool] } };

async function sendResult(on: ManagedFixture, id: string, text = 'ok', more = {}): Promise<void> {
  await on.runtime.sendEvent(on.id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [{ type: 'text', text }],
    ...more,
  });
}

const pendingCounts = (log: readonly LogEvent[]): readonly number[] =>
  log.flatMap((event) => (event.type === 'turn.waiting' ? [event.callIds.length] : []));

const shownToModel = (on: ManagedFixture): string =>
  JSON.stringify(on.model.requests.at(-1)?.contents);

test('a client can answer a call by its call id, its event id or the id of the provider', async () => {
  for (const idKind of ['call', 'event', 'provider'] as const) {
    await using on = await openManagedFixture(
      [{ toolCalls: [{ ...deploy('prod'), id: 'ctu_deploy_001' }] }, { text: 'Done.' }],
      withDeployTool,
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
    await sendResult(on, ids[idKind], '{"url":"https://x"}');
    await on.until('turn.ended');
    assert.match(shownToModel(on), /"response":\{"url":"https:\/\/x"\}/);
  }
});

test('results arrive in any order, and each is followed by the remaining pending calls', async () => {
  await using on = await openManagedFixture(threeCalls, withDeployTool);
  await on.send('Deploy all');
  await on.until('turn.waiting');
  assert.equal(await on.status(), 'idle');
  const ids = (await on.runtime.pending(on.id)).map(({ callId }) => callId);
  for (const index of [2, 0, 1]) {
    const { length } = await on.log();
    await sendResult(on, ids[index] ?? '', `result ${index}`);
    await on.until(index === 1 ? 'turn.ended' : 'turn.waiting', length);
  }
  const log = await on.log();
  assert.deepEqual(pendingCounts(log), [3, 2, 1]);
  assert.match(shownToModel(on), /result 0.*result 1.*result 2/);
  assert.equal(on.model.requests.length, 2);
});

test('a second result is rejected and changes nothing', async () => {
  await using on = await openManagedFixture(oneCall, withDeployTool);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  await sendResult(on, call?.callId ?? '', 'first');
  await on.until('turn.ended');
  const before = await on.log();
  await assert.rejects(sendResult(on, call?.callId ?? '', 'second'), { code: 'already_answered' });
  assert.deepEqual(await on.log(), before);
  assert.match(shownToModel(on), /first/);
});

test('of two concurrent results one is accepted', async () => {
  await using on = await openManagedFixture(oneCall, withDeployTool);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  const id = call?.callId ?? '';
  const results = await Promise.allSettled([sendResult(on, id, 'a'), sendResult(on, id, 'b')]);
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('a result for a call that does not exist is rejected', async () => {
  await using on = await openManagedFixture(oneCall, withDeployTool);
  await assert.rejects(sendResult(on, 'call_none'), { code: 'call_not_pending' });
  await on.send('Deploy');
  await on.until('turn.waiting');
  const before = await on.log();
  await assert.rejects(sendResult(on, 'call_none'), { code: 'call_not_pending' });
  assert.deepEqual(await on.log(), before);
});

test('a result that arrives before its call is kept and used', async () => {
  await using on = await openManagedFixture(
    [{ ...oneCall[0], delayMs: 30 }, { text: 'Done.' }],
    withDeployTool,
  );
  const { invocationId } = await on.runtime.sendEvent(
    on.id,
    { type: 'user.message', content: 'Deploy' },
    { dedupeKey: 'm1' },
  );
  assert.equal(invocationId, deriveInvocationId('m1'));
  await on.until('turn.started');
  await sendResult(on, deriveCallId(invocationId ?? '', 0, 0), 'early');
  await assert.rejects(sendResult(on, deriveCallId(invocationId ?? '', 0, 0), 'twice'), {
    code: 'already_answered',
  });
  await on.until('turn.ended');
  assert.match(shownToModel(on), /early/);
});

test('an unanswered call times out after five minutes, and the model gets the error', async () => {
  await using on = await openManagedFixture(oneCall, withDeployTool);
  await on.send('Deploy');
  await on.until('turn.waiting');
  on.clock.advance(299_999);
  assert.equal((await on.runtime.pending(on.id)).length, 1);
  on.clock.advance(1);
  const log = await on.until('turn.ended');
  const ended = log.find((event) => event.type === 'tool.result');
  assert.equal(ended?.outcome, 'timeout');
  assert.match(shownToModel(on), /No answer came within 300 s/);
  const lateResult = sendResult(on, ended?.callId ?? '');
  await assert.rejects(lateResult, { code: 'call_not_pending' });
});

test('timeout_ms of a tool sets how long its calls wait', async () => {
  const definition = { tools: [{ ...deployTool, timeout_ms: 1000 }] };
  await using on = await openManagedFixture(oneCall, { definition });
  await on.send('Deploy');
  await on.until('turn.waiting');
  on.clock.advance(1000);
  assert.match(JSON.stringify(await on.until('turn.ended')), /within 1 s/);
});

test('a client can report that its tool failed', async () => {
  await using on = await openManagedFixture(oneCall, withDeployTool);
  await on.send('Deploy');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  await sendResult(on, call?.callId ?? '', 'no such target', { is_error: true });
  await on.until('turn.ended');
  assert.match(shownToModel(on), /"isError":true/);
});

test('a pending call survives a restart, and its timeout continues', async () => {
  const first = await openManagedFixture(oneCall, withDeployTool);
  const { store } = first;
  await first.send('Deploy');
  await first.until('turn.waiting');
  first.clock.advance(100_000);
  await first.runtime.close();
  await using second = await openManagedFixture(oneCall, {
    ...withDeployTool,
    store,
    sessionId: first.id,
  });
  second.clock.advance(299_999);
  assert.equal((await second.runtime.pending(second.id)).length, 1);
  const [call] = await second.runtime.pending(second.id);
  await sendResult(second, call?.callId ?? '');
  await second.until('turn.ended');
});

test('another process can answer a call', async () => {
  await using first = await openManagedFixture(oneCall, withDeployTool);
  await first.send('Deploy');
  await first.until('turn.waiting');
  await using second = await openManagedFixture(oneCall, {
    ...withDeployTool,
    store: first.store,
    sessionId: first.id,
  });
  const [call] = await second.runtime.pending(second.id);
  await sendResult(second, call?.callId ?? '', 'from elsewhere');
  await first.until('turn.ended');
  const models = [first.model, second.model].flatMap(({ requests }) => requests);
  assert.equal(models.length, 2);
});

test('in a self-hosted environment the client runs the built-in tools', async () => {
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

test('a provider id that has the form of a call id is accepted', async () => {
  await using on = await openManagedFixture(
    [{ toolCalls: [{ ...deploy('prod'), id: 'call_Ab3dE' }] }, { text: 'Done.' }],
    withDeployTool,
  );
  await on.send('Deploy');
  await on.until('turn.waiting');
  await sendResult(on, 'call_Ab3dE', 'fine');
  await on.until('turn.ended');
  assert.match(shownToModel(on), /fine/);
});

test('a result that fits no call of the running turn is rejected', async () => {
  await using on = await openManagedFixture([{ text: 'Never.', delayMs: 600_000 }], withDeployTool);
  await on.send('Deploy');
  await on.until('turn.started');
  for (const id of ['call_none', 'ctu_1', deriveCallId(deriveInvocationId('another'), 0, 0)])
    await assert.rejects(sendResult(on, id), { code: 'call_not_pending' });
});
