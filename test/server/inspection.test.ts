import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import type { Client, SessionRecord } from '../../src/client/index.ts';
import { ModelError } from '../../src/models/index.ts';
import {
  applyRecord,
  decodeMarking,
  encodeMarking,
  parseRecords,
  replayRecords,
} from '../../src/net/journal/index.ts';
import { openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

async function openSession(
  on: ServerFixture,
  ...messages: readonly string[]
): Promise<{ readonly client: Client; readonly id: string }> {
  const client = createClient({ baseUrl: on.url });
  const agent = await client.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const { id } = await client.sessions.create({ agent: agent.id });
  for (const message of messages) await say(client, id, message);
  return { client, id };
}

async function say(client: Client, id: string, message: string): Promise<void> {
  const [sent] = await client.sessions.send(id, message);
  for await (const { type } of client.sessions.events(id, { after: sent?.id ?? '' }))
    if (type === 'session.status_idle') break;
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test('a client reads records in pages and recomputes the markings that the server returns', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { client, id } = await openSession(on, 'a blue elephant', 'again');
  const { sessions } = client;
  const all = await collect(sessions.records(id, { values: 'full', limit: 3 }));
  assert.deepEqual(
    all.map(({ record }) => record),
    all.map((_, index) => index + 1),
  );
  assert.deepEqual(await collect(sessions.records(id, { values: 'full', after: 4 })), all.slice(4));
  const stored = parseRecords(all.map((one) => one.stored));
  for (const at of [1, 5, all.length]) {
    const { encoded, record } = await sessions.marking(id, { at, values: 'full' });
    assert.equal(record, at);
    assert.deepEqual(encoded, encodeMarking(replayRecords(stored.slice(0, at))));
    const marking = decodeMarking(encoded);
    for (const one of stored.slice(at)) applyRecord(marking, one);
    assert.deepEqual(
      encodeMarking(marking),
      (await sessions.marking(id, { values: 'full' })).encoded,
    );
  }
  const counts = await collect(sessions.records(id));
  assert.match(JSON.stringify(all), /blue elephant/);
  const shapes = await collect(sessions.records(id, { values: 'shape' }));
  assert.doesNotMatch(
    JSON.stringify([counts, shapes, await sessions.marking(id)]),
    /blue elephant/,
  );
  assert.doesNotMatch(JSON.stringify(counts), /"(?:value|tokens|items|writes|stored)":/);
});

test('a client follows records, also those without events, and resumes after the last one', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { client, id } = await openSession(on, 'one');
  const stop = new AbortController();
  const seen: SessionRecord[] = [];
  const reading = (async () => {
    for await (const record of client.sessions.followRecords(id, {
      after: 2,
      signal: stop.signal,
    })) {
      seen.push(record);
      if (
        record.transition === 'turn.end' &&
        seen.filter(({ transition }) => transition === 'turn.end').length === 2
      )
        stop.abort();
    }
  })();
  await say(client, id, 'two');
  await reading;
  const all = await collect(client.sessions.records(id));
  assert.deepEqual(seen, all.slice(2, 2 + seen.length));
  const resumed = await fetch(`${on.url}/v1/sessions/${id}/records/stream`, {
    headers: { 'last-event-id': '5' },
  });
  const reader = (resumed.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes('id: ')) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  assert.match(text, /id: 6\n/);
});

test('a client reads the net, the request of a model call, and the fork points', async () => {
  const requests: unknown[] = [];
  await using on = await openServerFixture((request, turn) => {
    requests.push(request);
    return typeof scriptedChat === 'function' ? scriptedChat(request, turn) : {};
  });
  const { client, id } = await openSession(on, 'one');
  const { sessions } = client;
  const net = await sessions.net(id);
  assert.equal(net.hash, (await sessions.marking(id)).net_hash);
  assert.ok(
    net.transitions.some(
      ({ name, on_crash: onCrash }) => name === 'model.call' && onCrash === 'rerun',
    ),
  );
  assert.ok(net.subnets.some(({ path }) => path.join('/') === 'model-step'));
  assert.ok(net.layout.transitions['model.call'] !== undefined);
  const records = await collect(sessions.records(id));
  const ask = records.find(
    ({ kind, transition }) => kind === 'started' && transition === 'model.call',
  );
  const { request, may_differ: mayDiffer } = await sessions.modelRequest(id, ask?.record ?? 0);
  assert.deepEqual(request, JSON.parse(JSON.stringify(requests[0])));
  assert.ok(mayDiffer.every(({ source }) => source === 'definition'));
  const points = await collect(sessions.forkPoints(id, { limit: 2 }));
  assert.equal(points[0]?.up_to_seq, 0);
  assert.equal(points.at(-1)?.up_to_seq, (await sessions.get(id)).last_seq);
  for (const { up_to_seq: upTo } of points)
    assert.equal((await sessions.fork(id, upTo)).last_seq >= upTo, true);
});

test('a client reads the net of an agent, and a better layout of it', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { client, id } = await openSession(on, 'one');
  const { agent } = await client.sessions.get(id);
  const net = await client.agents.net(agent.id);
  assert.deepEqual(net, await client.sessions.net(id));
  assert.equal(net.layout.engine, 'columns');
  const drawn = await client.sessions.net(id, { layout: 'graphviz' });
  assert.deepEqual(drawn, await client.agents.net(agent.id, { version: 1, layout: 'graphviz' }));
  assert.equal(drawn.layout.engine, 'graphviz');
  assert.ok((drawn.layout.edges ?? []).some((edge) => edge.end_tip !== undefined));
  await assert.rejects(client.agents.net('agent_none'), { status: 404 });
});

test('wrong queries are refused with the name of the parameter', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { id } = await openSession(on, 'one');
  const path = `/v1/sessions/${id}`;
  for (const [query, problem] of [
    ['/records?values=everything', /values.*must be none, shape or full/],
    ['/records?limit=1001', /limit.*must be at most 1000/],
    ['/records?limit=0', /limit/],
    ['/records?after=-1', /after/],
    ['/records?page=x', /page.*must be a whole number/],
    ['/records?detail=full', /detail/],
    ['/records/stream?values=all', /values/],
    ['/marking?at=1000000', /record.*must be a record from 0 to \d+/],
    ['/marking?at=x', /at.*must be a whole number/],
    ['/firings/1/request', /firing.*starts no effect/],
    ['/fork_points?after=x', /after/],
  ] as const) {
    const response = await fetch(`${on.url}${path}${query}`);
    assert.equal(response.status, 400, query);
    assert.match(await response.text(), problem, query);
  }
  for (const route of [
    'records',
    'records/stream',
    'marking',
    'net',
    'fork_points',
    'firings/1/request',
  ])
    assert.equal((await fetch(`${on.url}/v1/sessions/session_none/${route}`)).status, 404, route);
});

test('an inspection shows no text of a provider, as events do not', async () => {
  await using on = await openServerFixture(() => {
    throw new ModelError({
      model: 'm',
      kind: 'bad_request',
      message: 'account 4711 of the operator is closed',
    });
  });
  const { client, id } = await openSession(on, 'one');
  const { sessions } = client;
  const records = await collect(sessions.records(id, { values: 'full' }));
  const markings = await Promise.all(
    records.map(async ({ record }) => sessions.marking(id, { at: record, values: 'full' })),
  );
  assert.match(JSON.stringify(records), /model_bad_request|The log of the server has the reason/);
  assert.doesNotMatch(JSON.stringify([records, markings]), /4711/);
  const log = await on.log(id);
  assert.match(JSON.stringify(log), /4711/, 'the log of the server has it');
});
