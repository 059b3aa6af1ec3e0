import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import { countingTool, userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

async function newSession({ client: { beta } }: ServerFixture): Promise<string> {
  const agent = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const environment = await beta.environments.create({ name: 'Here' });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  return session.id;
}

async function postAction(
  { url }: ServerFixture,
  session: string,
  verb: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const response = await fetch(`${url}/v1/sessions/${session}/${verb}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

/** The agent's messages, once every user message is answered. */
async function waitForMessage(
  { client }: ServerFixture,
  session: string,
  eventId: string,
): Promise<readonly string[]> {
  for (;;) {
    const { data } = await client.beta.sessions.events.list(session, { limit: 1000 });
    const at = data.findIndex(({ id }) => id === eventId);
    const end = data.findLastIndex(({ type }) => type === 'session.status_idle');
    if (at >= 0 && end > at)
      return data.flatMap((event) =>
        event.type === 'agent.message'
          ? event.content.map((block) => ('text' in block ? block.text : ''))
          : [],
      );
  }
}

async function sendMessage(on: ServerFixture, session: string, text: string): Promise<string> {
  const { data } = await on.client.beta.sessions.events.send(session, {
    events: [userMessage(text)],
  });
  return data?.[0]?.id ?? '';
}

test('a paused session accepts messages and answers them after resume', async () => {
  await using on = await openServerFixture(scriptedChat);
  const session = await newSession(on);
  const paused = await postAction(on, session, 'pause');
  assert.deepEqual([paused.body['status'], paused.body['paused']], ['idle', true]);
  assert.equal((await postAction(on, session, 'pause')).status, 200, 'pausing twice is allowed');
  const eventId = await sendMessage(on, session, 'Anybody there?');
  const { data } = await on.client.beta.sessions.events.list(session);
  assert.ok(data.every(({ type }) => type !== 'agent.message'));
  const resumed = await postAction(on, session, 'resume');
  assert.equal(resumed.body['paused'], false);
  assert.deepEqual(await waitForMessage(on, session, eventId), ['You said: Anybody there?']);
  assert.equal((await postAction(on, session, 'resume')).status, 409, 'the session is not paused');
});

test('a retried resume with the same idempotency key gets the same response', async () => {
  await using on = await openServerFixture(scriptedChat);
  const session = await newSession(on);
  await postAction(on, session, 'pause');
  const key = { 'idempotency-key': 'resume-1' };
  assert.equal((await postAction(on, session, 'resume', undefined, key)).status, 200);
  assert.equal((await postAction(on, session, 'resume', undefined, key)).status, 200);
});

test('a fork contains the messages up to an event and continues independently', async () => {
  await using on = await openServerFixture(scriptedChat);
  const session = await newSession(on);
  await waitForMessage(on, session, await sendMessage(on, session, 'One'));
  const { data } = await on.client.beta.sessions.events.list(session);
  const end = data.at(-1) as unknown as { readonly seq: number };
  const second = await sendMessage(on, session, 'Two');
  assert.deepEqual(await waitForMessage(on, session, second), ['You said: One', 'You said: Two']);
  const key = { 'idempotency-key': 'fork-1' };
  const { status, body } = await postAction(on, session, 'fork', { up_to_seq: end.seq }, key);
  assert.equal(status, 200);
  const fork = String(body['id']);
  assert.notEqual(fork, session);
  assert.equal(
    (await postAction(on, session, 'fork', { up_to_seq: end.seq }, key)).body['id'],
    fork,
  );
  const third = await sendMessage(on, fork, 'Three');
  assert.deepEqual(await waitForMessage(on, fork, third), ['You said: One', 'You said: Three']);
  assert.deepEqual(await waitForMessage(on, session, second), ['You said: One', 'You said: Two']);
  const listed = await on.client.beta.sessions.list();
  assert.deepEqual(
    listed.data.map(({ id }) => id),
    [fork, session],
  );
});

test('a fork at a record has the steps that end there or before, and names its origin', async () => {
  await using on = await openServerFixture(scriptedChat);
  const session = await newSession(on);
  await waitForMessage(on, session, await sendMessage(on, session, 'One'));
  const records = await fetch(`${on.url}/v1/sessions/${session}/records`);
  const { data } = (await records.json()) as {
    readonly data: readonly { readonly record: number; readonly step: number }[];
  };
  const inside = data.find(({ step }, index) => data[index + 1]?.step === step);
  assert.ok(inside !== undefined, 'a step has two records');
  const { status, body } = await postAction(on, session, 'fork', { at_record: inside.record });
  assert.equal(status, 200);
  assert.deepEqual(body['forked_from'], {
    session_id: session,
    up_to_seq: null,
    at_record: inside.record,
  });
  const read = await fetch(`${on.url}/v1/sessions/${String(body['id'])}`);
  assert.deepEqual(
    ((await read.json()) as JsonObject)['forked_from'],
    body['forked_from'],
    'a later read shows it, too',
  );
  const both = { at_record: 1, up_to_seq: 1 };
  assert.equal((await postAction(on, session, 'fork', both)).status, 400);
  assert.equal((await postAction(on, session, 'fork', { at_record: 1e6 })).status, 400);
});

test('sessions show the exact status and their waiting calls, and are found by both and by text', async () => {
  await using on = await openServerFixture(scriptedChat, { tools: [countingTool('bash')] });
  const { beta } = on.client;
  const agent = await beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { enabled: false },
        configs: [{ name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } }],
      },
    ],
  });
  const environment = await beta.environments.create({ name: 'Here' });
  const params = { agent: agent.id, environment_id: environment.id };
  const queued = await beta.sessions.create({ ...params, title: 'Tomorrow' });
  const waiting = await beta.sessions.create({ ...params, title: 'Delete a FILE' });
  const archived = await beta.sessions.create(params);
  await beta.sessions.archive(archived.id);
  await beta.sessions.events.send(waiting.id, { events: [userMessage('call bash a.txt')] });
  const list = async (query: string): Promise<readonly JsonObject[]> => {
    const response = await fetch(`${on.url}/v1/sessions?${query}`);
    assert.equal(response.status, 200);
    return ((await response.json()) as { readonly data: readonly JsonObject[] }).data;
  };
  while ((await list('states[]=waiting')).length === 0);
  const [row = assert.fail()] = await list('states[]=waiting');
  assert.deepEqual(
    [row['id'], row['status'], row['state'], row['pending_count'], row['waiting_for']],
    [waiting.id, 'idle', 'waiting', 1, 'approval'],
  );
  assert.deepEqual([row['user_id'], row['forked_from']], ['default', null]);
  const ids = async (query: string): Promise<unknown> => (await list(query)).map(({ id }) => id);
  assert.deepEqual(await ids('states[]=queued'), [queued.id]);
  assert.deepEqual(await ids('states[]=archived'), [archived.id]);
  assert.deepEqual(await ids('states[]=queued&states[]=waiting'), [waiting.id, queued.id]);
  assert.deepEqual(await ids('search=file'), [waiting.id]);
  assert.deepEqual(await ids(`search=${queued.id}`), [queued.id]);
  assert.equal((await fetch(`${on.url}/v1/sessions?states[]=asleep`)).status, 400);
});

test('a rewind removes later messages from the conversation but not from the log', async () => {
  await using on = await openServerFixture(({ contents }) => ({
    text: JSON.stringify(contents).includes('What do you know?')
      ? `I know of ${contents.length - 1} things.`
      : 'Noted.',
  }));
  const session = await newSession(on);
  await waitForMessage(on, session, await sendMessage(on, session, 'One'));
  const second = await sendMessage(on, session, 'Two');
  await waitForMessage(on, session, second);
  assert.equal((await postAction(on, session, 'rewind', { before_event_id: second })).status, 200);
  const eventId = await sendMessage(on, session, 'What do you know?');
  assert.equal((await waitForMessage(on, session, eventId)).at(-1), 'I know of 2 things.');
  const { data } = await on.client.beta.sessions.events.list(session, { limit: 1000 });
  assert.ok(data.some(({ id }) => id === second));
  const rejected = await postAction(on, session, 'rewind', { before_event_id: 'sevt_none' });
  assert.equal(rejected.status, 400);
});

test('a schedule starts no session of an agent that was archived', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { client } = on;
  const agent = await client.beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  await client.post('/v1/schedules', {
    body: { id: 'yearly', agent: agent.id, message: 'Hi', cron: '0 0 1 1 *' },
  });
  await client.beta.agents.archive(agent.id);
  await client.post('/v1/schedules/yearly/run');
  for (;;) {
    const { data } = await client.get<{ data: readonly JsonObject[] }>('/v1/schedules/yearly/runs');
    const [run] = data;
    if (run === undefined) continue;
    assert.equal(run['status'], 'failed');
    assert.match(String(run['reason']), /archived/);
    break;
  }
  assert.deepEqual((await client.beta.sessions.list()).data, []);
});
