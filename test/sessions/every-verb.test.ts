import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogEvent } from '../../src/core/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { KINDS, newSession, USER } from './kinds-of-agents.ts';
import type { OpenedKind } from './kinds-of-agents.ts';

/** What each verb of `Session` and `Runtime` does, whatever made the agent. */
const VERBS: Readonly<Record<string, (on: OpenedKind) => Promise<void>>> = {
  'session.send': async (on) => {
    const session = await newSession(on);
    const types = new Set<string>();
    for await (const { type } of session.send('Hi')) types.add(type);
    for (const type of ['user.message', 'turn.started', 'agent.message', 'turn.ended'])
      assert.ok(types.has(type), type);
    const again = session.send('Hi', { messageId: 'm1' });
    assert.equal(await again.accepted, await session.send('Hi', { messageId: 'm1' }).accepted);
    assert.equal(await again.text(), 'You said: Hi');
  },
  'session.ask': async (on) => {
    const session = await newSession(on);
    assert.equal(await session.ask('Hi'), 'You said: Hi');
    const output = {
      type: 'object',
      properties: { total: { type: 'number' } },
      required: ['total'],
      additionalProperties: false,
    } as const;
    assert.deepEqual(await session.ask('As json.', { output }), { total: 3 });
  },
  'session.events': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    const log = await readLog(session);
    assert.deepEqual(
      log.map(({ seq }) => seq),
      log.map((_, index) => index + 1),
    );
    assert.deepEqual(await readLog(session, 2), log.slice(2));
  },
  'session.status': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    const row = await session.status();
    assert.deepEqual([row.key.sessionId, row.agent], ['s', on.agentName]);
    assert.equal(row.lastSeq, (await readLog(session)).length);
  },
  'session.pending and approve': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'refund');
    const [call] = await session.pending();
    assert.deepEqual([call?.name, call?.needs], ['refund', 'approval']);
    const options = { fingerprint: call?.fingerprint };
    assert.equal(await session.approve(call?.id ?? '', options).text(), 'Done.');
    assert.equal(on.refunds(), 1);
    await assert.rejects(session.approve(call?.id ?? '').accepted, { code: 'already_answered' });
  },
  'session.deny': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'refund');
    const [call] = await session.pending();
    assert.equal(await session.deny(call?.id ?? '', { message: 'No.' }).text(), 'Done.');
    assert.equal(on.refunds(), 0);
  },
  'session.answer and update': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'lookup');
    const [call] = await session.pending();
    await session.update(call?.id ?? '', { progress: 1 });
    assert.equal(await session.answer(call?.id ?? '', { status: 'sent' }).text(), 'Done.');
  },
  'a call of a called agent': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'delegate');
    const [call] = await session.pending();
    assert.equal(call?.name, 'refund');
    assert.equal(await session.approve(call?.id ?? '').text(), 'Done.');
    assert.equal(on.refunds(), 1);
    const threads = await on.runtime.sessions({ user: USER, parent: 's' });
    assert.equal(threads.length, 1);
  },
  'session.interrupt': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'refund');
    await session.interrupt();
    const ended = await nextEvent(session, 'turn.ended');
    assert.equal(ended.type === 'turn.ended' && ended.stopReason, 'interrupted');
    assert.deepEqual(await session.pending(), []);
    assert.equal(await session.ask('Hi'), 'You said: Hi');
  },
  'session.pause and resume': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    await session.pause();
    const turn = session.send('Later');
    await turn.accepted;
    await assert.rejects(session.pause(), { code: 'illegal_transition' });
    const { length } = await readLog(session);
    await session.resume();
    assert.equal(await turn.text(), 'You said: Later');
    assert.ok((await readLog(session, length)).some(({ type }) => type === 'session.resumed'));
  },
  'session.complete': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    await session.complete();
    await assert.rejects(session.ask('Again'), { code: 'illegal_transition' });
    await session.archive();
  },
  'session.archive': async (on) => {
    const session = await newSession(on);
    await waitsFor(session, 'refund');
    await session.archive();
    assert.deepEqual(await session.pending(), []);
    await assert.rejects(session.ask('Again'), { code: 'illegal_transition' });
    await assert.rejects(session.append({ author: 'crm', content: 'Paid.' }), {
      code: 'illegal_transition',
    });
    assert.equal(on.refunds(), 0);
  },
  'session.append': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    const event = { author: 'crm', content: 'Paid.', stateDelta: { paid: true } };
    const first = await session.append(event, { dedupeKey: 'e1' });
    assert.equal(first.duplicate, false);
    assert.equal((await session.append(event, { dedupeKey: 'e1' })).duplicate, true);
    await session.ask('Hi');
    const appended = (await readLog(session)).filter(({ type }) => type === 'event.appended');
    assert.equal(appended.length, 1);
  },
  'session.fork and forkPoints': async (on) => {
    const session = await newSession(on);
    await session.ask('One');
    await session.ask('Two');
    const points: number[] = [];
    for await (const { upTo } of session.forkPoints()) points.push(upTo);
    assert.ok(points.length > 2);
    const fork = await session.fork({ id: 'copy' });
    assert.deepEqual(withoutUid(await readLog(fork)), withoutUid(await readLog(session)));
    assert.equal(await fork.ask('Three'), 'You said: Three');
    assert.equal((await readLog(session)).at(-1)?.type, 'turn.ended');
  },
  'session.rewind': async (on) => {
    const session = await newSession(on);
    await session.ask('One');
    const turn = session.send('Two');
    await turn.text();
    await session.rewind({ beforeInvocationId: turn.invocationId });
    assert.ok((await readLog(session)).some(({ type }) => type === 'session.rewound'));
    assert.equal(await session.ask('Three'), 'You said: Three');
    const [request] = await modelRequests(session, -1);
    assert.deepEqual(
      request?.request.contents.flatMap(({ role, parts }) => (role === 'user' ? parts : [])),
      [{ text: 'One' }, { text: 'Three' }],
    );
  },
  'session.records, markingAt, net and modelRequest': async (on) => {
    const session = await newSession(on);
    await session.ask('Hi');
    const net = await session.net();
    const names = new Set(net.transitions.map(({ name }) => name));
    let last = 0;
    for await (const { record, transition } of session.records()) {
      last = record;
      if (transition !== undefined) assert.ok(names.has(transition), transition);
    }
    assert.deepEqual(await session.markingAt(last), await session.markingAt());
    assert.equal((await session.markingAt(0)).record, 0);
    const [request] = await modelRequests(session, -1);
    assert.deepEqual(request?.request.contents.at(-1)?.parts, [{ text: 'Hi' }]);
  },
  'runtime.session and find': async (on) => {
    await newSession(on);
    assert.equal((await on.runtime.find('s', { user: USER }))?.agent, on.agentName);
    assert.equal(await on.runtime.find('s', { user: 'ben' }), undefined);
    await assert.rejects(on.runtime.session('x', { agent: 'nobody' }), { code: 'unknown_agent' });
  },
  'runtime.batch': async (on) => {
    const batch = on.runtime.batch();
    const session = await batch.session('b', { user: USER, agent: on.agentName });
    await batch.add(async () =>
      session.inject('user.in', message('m1', 'Hi'), { dedupeKey: 'm1' }),
    );
    await batch.submit();
    const opened = await newSession(on, 'b');
    await nextEvent(opened, 'turn.ended');
  },
  'runtime.sessions': async (on) => {
    for (const id of ['one', 'two', 'three']) await newSession(on, id);
    const rows = await on.runtime.sessions({ user: USER });
    assert.deepEqual(rows.map(({ key }) => key.sessionId).toSorted(), ['one', 'three', 'two']);
    assert.equal((await on.runtime.sessions({ user: 'ben' })).length, 0);
  },
  'runtime.pending and watchPending': async (on) => {
    await waitsFor(await newSession(on, 'one'), 'refund');
    await waitsFor(await newSession(on, 'two'), 'lookup');
    const { calls } = await on.runtime.pending();
    assert.deepEqual(
      calls.map(({ key, name }) => [key.sessionId, name]),
      [
        ['one', 'refund'],
        ['two', 'lookup'],
      ],
    );
    const seen: string[] = [];
    for await (const change of on.runtime.watchPending()) {
      if (change.type === 'current') break;
      seen.push(change.type);
    }
    assert.deepEqual(seen, ['added', 'added']);
  },
  'runtime.changes': async (on) => {
    const changes = on.runtime.changes()[Symbol.asyncIterator]();
    const current = await changes.next();
    assert.equal(current.value?.type, 'current');
    await newSession(on);
    const created = await changes.next();
    assert.ok(created.value?.type === 'created');
    assert.deepEqual(
      [created.value.row.key.sessionId, created.value.row.agent],
      ['s', on.agentName],
    );
    await changes.return?.();
  },
  'runtime.usage': async (on) => {
    await (await newSession(on)).ask('Hi');
    const [total] = await on.runtime.usage({ by: ['user'] });
    assert.deepEqual([total?.user, total?.calls], [USER, 1]);
  },
  'runtime.delete': async (on) => {
    await waitsFor(await newSession(on), 'delegate');
    assert.equal(await on.runtime.delete('s', { user: USER }), true);
    assert.equal(await on.runtime.find('s', { user: USER }), undefined);
    assert.deepEqual((await on.runtime.pending()).calls, []);
    assert.equal(await on.runtime.delete('s', { user: USER }), false);
  },
};

for (const kind of KINDS)
  describe(`a session of ${kind.name}`, () => {
    for (const [verb, run] of Object.entries(VERBS))
      it(verb, async () => {
        await using on = await kind.open();
        await run(on);
      });
  });

async function readLog(session: Session, from = 0): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(from, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

async function nextEvent(session: Session, type: LogEvent['type'], from = 0): Promise<LogEvent> {
  for await (const event of session.events(from))
    if ('seq' in event && event.type === type) return event;
  throw new Error(`No ${type}.`);
}

/** Sends a message whose turn waits for an answer. */
async function waitsFor(session: Session, text: string): Promise<void> {
  let last = '';
  for await (const { type } of session.send(text)) last = type;
  assert.equal(last, 'turn.waiting');
}

async function modelRequests(
  session: Session,
  at: number,
): Promise<readonly Awaited<ReturnType<Session['modelRequest']>>[]> {
  const found: Awaited<ReturnType<Session['modelRequest']>>[] = [];
  for await (const { record, kind, transition } of session.records())
    if (kind === 'started' && transition?.endsWith('model.call') === true)
      found.push(await session.modelRequest(record));
  return found.slice(at);
}

function withoutUid(log: readonly LogEvent[]): readonly unknown[] {
  return log.map(({ type, seq }) => [type, seq]);
}

function message(messageId: string, text: string): unknown {
  return {
    messageId,
    invocationId: `e-${messageId}`,
    content: { role: 'user', parts: [{ text }] },
  };
}
