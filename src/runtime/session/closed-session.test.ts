import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { userContent } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';

const lookup = tool({ name: 'ask', description: 'Asks a person.' });

/** Calls `ask` for the message `ask`, and answers every other one. */
const assistant = (): Agent =>
  agent({
    name: 'assistant',
    tools: [lookup],
    outcomes: { grader: new ScriptedModel(() => ({ text: '{"result":"satisfied"}' })) },
    model: new ScriptedModel(({ contents }) =>
      JSON.stringify(contents.at(-1)).includes('"ask"') && contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'ask', args: {} }] }
        : { text: 'Yes.' },
    ),
  });

const message = { messageId: 'm', invocationId: 'inv_m', content: userContent('More') };

/** Every verb that changes a session, sent with a key that the session does not know. */
const CHANGES: Readonly<Record<string, (on: Session) => Promise<unknown>>> = {
  send: async (on) => on.send('More').accepted,
  ask: async (on) => on.ask('More'),
  approve: async (on) => on.approve('call').accepted,
  deny: async (on) => on.deny('call').accepted,
  answer: async (on) => on.answer('call', 'x').accepted,
  submitResultEarly: async (on) => on.submitResultEarly('call', 'x'),
  update: async (on) => on.update('call', 'x'),
  append: async (on) => on.append({ author: 'crm', content: 'x' }),
  defineOutcome: async (on) => on.defineOutcome({ description: 'A story.' }),
  'inject user.in': async (on) => on.inject('user.in', message, { dedupeKey: 'm' }),
  'inject interrupt.in': async (on) =>
    on.inject('interrupt.in', { invocationId: 'inv_m' }, { dedupeKey: 'i' }),
  'inject pause.in': async (on) => on.inject('pause.in', null, { dedupeKey: 'p' }),
  interrupt: async (on) => on.interrupt(),
  pause: async (on) => on.pause(),
  resume: async (on) => on.resume(),
  complete: async (on) => on.complete(),
  rewind: async (on) => on.rewind({ beforeInvocationId: 'inv_m' }),
};

const CLOSED = ['completed', 'archived'] as const;

async function close(session: Session, status: (typeof CLOSED)[number]): Promise<void> {
  await (status === 'completed' ? session.complete() : session.archive());
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

for (const status of CLOSED) {
  test(`a session that is ${status} refuses every change, and its log and inbox stay as they are`, async () => {
    const store = new MemoryStore();
    await using runtime = await openRuntime({ agents: [assistant()], store });
    const session = await runtime.session('s');
    await session.ask('Hi');
    await close(session, status);
    const before = await readLog(session);
    for (const [verb, change] of Object.entries(CHANGES))
      await assert.rejects(change(session), { code: 'illegal_transition', status }, verb);
    // A session at rest refuses from its row.
    await session.close();
    for (const [verb, change] of Object.entries(CHANGES))
      await assert.rejects(change(session), { code: 'illegal_transition', status }, verb);
    assert.deepEqual(await readLog(session), before);
    assert.deepEqual(await store.inbox(session.key, 0), []);
  });

  test(`a session that is ${status} can be read and forked`, async () => {
    await using runtime = await openRuntime({ agents: [assistant()] });
    const session = await runtime.session('s');
    await session.ask('Hi');
    const { lastSeq: open } = await session.status();
    await close(session, status);
    assert.deepEqual(await session.pending(), []);
    const copy = await session.fork({ id: 'copy', upTo: open });
    assert.equal(await copy.ask('Again'), 'Yes.');
    assert.equal((await (await session.fork({ id: 'all' })).status()).status, status);
    assert.equal((await session.status()).lastSeq, open + 1);
  });

  test(`inputs that lose the race with a session being ${status} leave no event`, async () => {
    const store = new MemoryStore();
    await using runtime = await openRuntime({ agents: [assistant()], store });
    const session = await runtime.session('s');
    await session.ask('Hi');
    await close(session, status);
    const before = await readLog(session);
    await session.close();
    // What another process wrote before it saw the end of the session.
    const late = [
      ['interrupt.in', { invocationId: 'none:1' }],
      ['pause.in', null],
      ['resume.in', null],
      ['complete.in', null],
      ['user.in', message],
      ['answer.in', { callId: 'c', decision: 'denied' }],
      ['rewind.in', { beforeInvocationId: 'e', conversationLength: 0, state: {} }],
      ['outcome.in', { ...OUTCOME, startsNow: true }],
      ['outcome.in', { ...OUTCOME, outcomeId: 'o2', startsNow: false }],
      ...(status === 'archived' ? [['archive.in', null] as const] : []),
    ] as const;
    for (const [index, [place, value]] of late.entries())
      await store.inject(session.key, { place, value }, `late:${index}`);
    await runtime.session('s');
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    assert.deepEqual(await store.inbox(session.key, 0), []);
    assert.deepEqual(await readLog(session), before);
    assert.equal((await session.status()).status, status);
  });

  test(`a retry of an accepted request is told so when the session was ${status} meanwhile`, async () => {
    await using runtime = await openRuntime({ agents: [assistant()] });
    const session = await runtime.session('s');
    assert.equal(await session.ask('Hi', { messageId: 'hi' }), 'Yes.');
    const key = { dedupeKey: 'k' };
    const requests: readonly (() => Promise<{ readonly duplicate: boolean }>)[] = [
      async () => session.append({ author: 'crm', content: 'Paid.' }, key),
      async () => session.defineOutcome({ criteria: 'Short.' }, key),
      async () => session.inject('user.in', message, key),
    ];
    for (const request of requests) assert.equal((await request()).duplicate, false);
    const invocation = await untilEnded(session, 'inv_m');
    await session.rewind({ beforeInvocationId: invocation, ...key });
    const asking = session.send('ask');
    for await (const _ of asking);
    const [call] = await session.pending();
    assert.ok(call);
    await session.update(call.id, 'half', key);
    await session.interrupt();
    for await (const event of session.events(0))
      if (event.type === 'turn.ended' && event.stopReason === 'interrupted') break;
    await close(session, status);
    const before = await readLog(session);
    assert.equal(await session.ask('Hi', { messageId: 'hi' }), 'Yes.');
    for (const request of requests) assert.equal((await request()).duplicate, true);
    await session.rewind({ beforeInvocationId: invocation, ...key });
    await session.update(call.id, 'half', key);
    assert.deepEqual(await readLog(session), before);
    // Another key is another request.
    await assert.rejects(session.append({ author: 'crm', content: 'Paid.' }, { dedupeKey: 'k2' }), {
      code: 'illegal_transition',
    });
  });
}

const OUTCOME = {
  outcomeId: 'o1',
  description: 'A story.',
  maxIterations: 1,
  completeWhenSatisfied: false,
};

async function untilEnded(session: Session, invocationId: string): Promise<string> {
  for await (const event of session.events(0))
    if (event.type === 'turn.ended' && event.invocationId === invocationId) break;
  return invocationId;
}

test('a message that was accepted and never started is accepted again, and its turn ends with the reason', async () => {
  await using runtime = await openRuntime({ agents: [assistant()] });
  const session = await runtime.session('s');
  await session.pause();
  const options = { messageId: 'waits' };
  const inputSeq = await session.send('Hi', options).accepted;
  await session.archive();
  const again = session.send('Hi', options);
  assert.equal(await again.accepted, inputSeq);
  await assert.rejects(again.text(), { code: 'illegal_transition', status: 'archived' });
});

test('a message that never started is refused with the reason, also after inputs that no place takes', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [assistant()], store });
  const session = await runtime.session('s');
  await session.ask('Hi');
  await session.pause();
  const options = { messageId: 'waits' };
  const inputSeq = await session.send('More', options).accepted;
  await session.archive();
  const { lastSeq } = await session.status();
  for (const dedupeKey of ['1', '2', '3'])
    await store.inject(session.key, { place: 'nowhere', value: null }, dedupeKey);
  while ((await runtime.session('s')) && (await session.status()).inboxPending)
    await new Promise(setImmediate);
  // The log of a closed session has ended.
  assert.equal((await session.status()).lastSeq, lastSeq);
  const again = session.send('More', options);
  assert.equal(await again.accepted, inputSeq);
  await assert.rejects(again.text(), { code: 'illegal_transition', status: 'archived' });
});

test('an answer that was accepted before the session was archived is reported as given', async () => {
  await using runtime = await openRuntime({ agents: [assistant()] });
  const session = await runtime.session('s');
  for await (const _ of session.send('ask'));
  const [call] = await session.pending();
  assert.ok(call);
  for await (const _ of session.answer(call.id, 'Four.'));
  await session.archive();
  await assert.rejects(session.answer(call.id, 'Five.').accepted, { code: 'already_answered' });
  await assert.rejects(session.submitResultEarly(call.id, 'Five.'), { code: 'already_answered' });
});

test('an event that is appended before the archiving of the same batch is in the log; one after it is refused', async () => {
  for (const isNew of [false, true]) {
    await using runtime = await openRuntime({ agents: [assistant()] });
    if (!isNew) await (await runtime.session('s')).ask('Hi');
    const batch = runtime.batch();
    const session = await batch.session('s');
    const event = { author: 'crm', content: 'Paid.', stateDelta: { paid: true } };
    const appended = await batch.add(async () => session.append(event));
    const archived = await batch.add(async () => session.archive());
    for (const change of ['append', 'send', 'interrupt', 'pause', 'inject user.in'])
      await assert.rejects(
        batch.add(async () => CHANGES[change]?.(session)),
        { code: 'illegal_transition', status: 'archived' },
        change,
      );
    await batch.submit();
    const { eventId } = await appended.done;
    await archived.done;
    const log = await readLog(await runtime.session('s'));
    assert.deepEqual(
      log.slice(-2).map((one) => (one.type === 'event.appended' ? one.event.id : one.type)),
      [eventId, 'session.archived'],
    );
  }
});

test('an event that arrives together with the archiving is in the log, in whatever order they arrive', async () => {
  for (const order of [
    ['append', 'archive'],
    ['archive', 'append'],
  ] as const) {
    const store = new MemoryStore();
    await using runtime = await openRuntime({ agents: [assistant()], store });
    const session = await runtime.session('s');
    await session.ask('Hi');
    await session.close();
    const event = { id: 'x', invocationId: 'e-x', timestamp: 1, author: 'crm', actions: {} };
    const inputs = {
      append: { place: 'event.in', value: { event, stateDelta: {} } },
      archive: { place: 'archive.in', value: null },
    };
    for (const name of order) await store.inject(session.key, inputs[name], name);
    await runtime.session('s');
    const types: string[] = [];
    for await (const { type } of session.events(0)) {
      types.push(type);
      if (type === 'session.archived') break;
    }
    assert.deepEqual(types.slice(-2), ['event.appended', 'session.archived'], order.join());
  }
});

test('a session that a batch creates is paused, interrupted or archived by the same batch', async () => {
  await using runtime = await openRuntime({ agents: [assistant()] });
  const create = async (
    id: string,
    ...changes: readonly ((on: Session) => Promise<unknown>)[]
  ): Promise<Session> => {
    const batch = runtime.batch();
    const session = await batch.session(id);
    const added = [];
    for (const change of changes) added.push(await batch.add(async () => change(session)));
    await batch.submit();
    await Promise.all(added.map(async ({ done }) => done));
    return runtime.session(id);
  };
  const pause = async (on: Session): Promise<void> => on.pause();
  const send = async (on: Session): Promise<unknown> => on.send('Hi').accepted;
  const paused = await create('paused', pause, send);
  assert.deepEqual(
    [(await paused.status()).status, (await readLog(paused)).map(({ type }) => type)],
    ['paused', ['session.paused']],
  );
  const archived = await create('archived', async (on) => on.archive());
  assert.equal((await archived.status()).status, 'archived');
  const interrupted = await create('interrupted', send, async (on) => on.interrupt());
  for await (const event of interrupted.events(0))
    if (event.type === 'turn.ended') {
      assert.equal(event.stopReason, 'interrupted');
      break;
    }
  const refused = runtime.batch();
  const session = await refused.session('refused');
  for (const change of [
    async () => session.resume(),
    async () => session.complete(),
    async () => session.rewind({ beforeInvocationId: 'e' }),
  ])
    await assert.rejects(refused.add(change), { code: 'illegal_transition', status: 'queued' });
  assert.equal(await runtime.find('refused'), undefined);
});
