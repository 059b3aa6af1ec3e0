import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent, AgentDefinition } from '../../agents/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, net, place, pure, SimulatedClock } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** Keeps what is sent to a place until it is released. */
function box(name: string): Net {
  const kept = place(name, anything, { environment: true, version: 1 });
  const release = place('box.release', anything, { environment: true, version: 1 });
  return net('box', {
    in: { kept, release },
    transitions: [pure('box.empty', { take: { kept, release }, give: allOf({}), run: () => ({}) })],
  });
}

const boxed = (
  name: string,
  migrate?: AgentDefinition['migrate'],
  model: ScriptedModel = new ScriptedModel(() => ({ text: 'Yes.' })),
): Agent =>
  agent({
    name: 'clerk',
    model,
    extensions: [box(name)],
    ...omitUndefined({ migrate }),
  });

/** Leaves an unread letter in a session of an earlier version. */
async function leaveLetter(store: MemoryStore): Promise<void> {
  await using runtime = await openRuntime({ agents: [boxed('box.letters')], store });
  const session = await runtime.session('x');
  for await (const _ of session.send('Hi'));
  await runtime.close();
  await store.inject(session.key, { place: 'box.letters', value: 'Dear all' }, 'signal:letter');
}

async function untilRead(session: Session): Promise<void> {
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
}

async function listRejected(session: Session): Promise<readonly string[]> {
  const messages: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'error' && event.code === 'input_rejected') messages.push(event.message);
  return messages;
}

test('an unread input of a removed place is refused like a token there', async () => {
  const store = new MemoryStore();
  await leaveLetter(store);
  await using runtime = await openRuntime({ agents: [boxed('box.mail')], store });
  await assert.rejects(runtime.session('x'), { code: 'net_changed', places: ['box.letters'] });
});

test('migrate moves an unread input of a removed place', async () => {
  const store = new MemoryStore();
  await leaveLetter(store);
  const asked: (readonly string[])[] = [];
  const moved = boxed('box.mail', (places) => {
    asked.push(places);
    return { moved: { 'box.letters': 'box.mail' } };
  });
  await using runtime = await openRuntime({ agents: [moved], store });
  const session = await runtime.session('x');
  await untilRead(session);
  const { places } = await session.markingAt();
  const mail = places['box.mail'];
  assert.deepEqual(mail?.kind === 'tokens' && mail.tokens?.map(({ value }) => value), ['Dear all']);
  assert.deepEqual(await listRejected(session), []);
  assert.deepEqual(asked, [['box.letters']]);
});

test('an unread input of a place that migrate drops is rejected, and the session continues', async () => {
  const store = new MemoryStore();
  await leaveLetter(store);
  const dropped = boxed('box.mail', () => ({ moved: { 'box.letters': null } }));
  await using runtime = await openRuntime({ agents: [dropped], store });
  const session = await runtime.session('x');
  await untilRead(session);
  assert.match(String(await listRejected(session)), /Input for "box.letters" rejected/);
  for await (const _ of session.send('Hi'));
  assert.equal((await session.status()).status, 'idle');
});

test('migrate cannot move an unread input to a place that takes none', async () => {
  const store = new MemoryStore();
  await leaveLetter(store);
  const wrong = boxed('box.mail', () => ({ moved: { 'box.letters': 'turn.permit' } }));
  await using runtime = await openRuntime({ agents: [wrong], store });
  await assert.rejects(runtime.session('x'), { code: 'net_changed', places: ['box.letters'] });
});

test('a runtime that cannot load a session does not quarantine it while another runtime runs its turn', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(0);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const slow = new ScriptedModel([{ text: 'Yes.', delayMs: 1 }], { sleep: async () => answered });
  await using owner = await openRuntime({
    agents: [boxed('box.letters', undefined, slow)],
    store,
    clock,
  });
  const session = await owner.session('x');
  await session.inject('box.letters', 'Dear all', { dedupeKey: '1' });
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
  const turn = session.send('Hi');
  await turn.accepted;
  while ((await session.status()).inFlight === 0) await new Promise(setImmediate);
  const fault = new TypeError('a fault in migrate');
  const errors: unknown[] = [];
  await using other = await openRuntime({
    agents: [
      boxed('box.mail', () => {
        throw fault;
      }),
    ],
    store,
    clock,
    onError: (error) => errors.push(error),
  });
  for (let second = 0; second < 2; second++) {
    await assert.rejects(other.session('x'), fault);
    for (let step = 0; step < 4; step++) {
      clock.advance(240);
      for (let tick = 0; tick < 50; tick++) await new Promise(setImmediate);
    }
  }
  assert.deepEqual(errors, [fault]);
  const row = await store.find(session.key);
  assert.deepEqual([row?.status, row?.failures], ['running', 0]);
  answer();
  assert.equal(await turn.text(), 'Yes.');
});

/** Leaves an unread letter in a session that an earlier version created and that has no steps. */
async function leaveFirstLetter(store: MemoryStore): Promise<void> {
  const key = { appName: 'petrichor', userId: 'default', sessionId: 'x' };
  const netHash = boxed('box.letters').compiled.hash;
  await store.join('gone');
  await store.create(key, { agent: 'clerk', owner: 'gone', at: 0, netHash });
  await store.leave('gone');
  await store.inject(key, { place: 'box.letters', value: 'Dear all' }, 'signal:letter');
}

test('the first input of a session, to a removed place, is kept until an agent with the place takes it', async () => {
  const store = new MemoryStore();
  await leaveFirstLetter(store);
  {
    await using runtime = await openRuntime({ agents: [boxed('box.mail')], store });
    await assert.rejects(runtime.session('x'), { code: 'net_changed', places: ['box.letters'] });
  }
  await using back = await openRuntime({ agents: [boxed('box.letters')], store });
  const session = await back.session('x');
  await untilRead(session);
  const { places } = await session.markingAt();
  const letters = places['box.letters'];
  assert.deepEqual(letters?.kind === 'tokens' && letters.tokens?.length, 1);
  assert.deepEqual(await listRejected(session), []);
});

test('migrate moves the first input of a session to a removed place', async () => {
  const store = new MemoryStore();
  await leaveFirstLetter(store);
  const moved = boxed('box.mail', () => ({ moved: { 'box.letters': 'box.mail' } }));
  await using runtime = await openRuntime({ agents: [moved], store });
  const session = await runtime.session('x');
  await untilRead(session);
  const { places } = await session.markingAt();
  const mail = places['box.mail'];
  assert.deepEqual(mail?.kind === 'tokens' && mail.tokens?.length, 1);
  assert.deepEqual(await listRejected(session), []);
});

for (const moves of [true, false]) {
  test(`an input of a process of the earlier version, to a removed place, is ${moves ? 'moved by migrate' : 'refused visibly'} after the upgrade`, async () => {
    const store = new MemoryStore();
    await leaveLetter(store);
    const target = moves ? 'box.mail' : null;
    const newer = boxed('box.mail', () => ({ moved: { 'box.letters': target } }));
    await using runtime = await openRuntime({ agents: [newer], store });
    const session = await runtime.session('x');
    await untilRead(session);
    await store.inject(session.key, { place: 'box.letters', value: 'PS' }, 'signal:second');
    await runtime.session('x');
    await untilRead(session);
    const { places } = await session.markingAt();
    const mail = places['box.mail'];
    const kept = mail?.kind === 'tokens' ? mail.tokens?.map(({ value }) => value) : undefined;
    assert.deepEqual(kept ?? [], moves ? ['Dear all', 'PS'] : []);
    assert.equal((await listRejected(session)).length, moves ? 0 : 2);
  });
}

test('an idle session whose migrate throws is not quarantined, and its next message counts the failures', async () => {
  const store = new MemoryStore();
  {
    await using runtime = await openRuntime({ agents: [boxed('box.letters')], store });
    const session = await runtime.session('x');
    await session.inject('box.letters', 'Dear all', { dedupeKey: '1' });
    await untilRead(session);
  }
  const fault = new TypeError('a fault in migrate');
  const errors: unknown[] = [];
  const broken = boxed('box.mail', () => {
    throw fault;
  });
  await using runtime = await openRuntime({
    agents: [broken],
    store,
    onError: (error) => errors.push(error),
  });
  for (let n = 0; n < 4; n++) await assert.rejects(runtime.session('x'), fault);
  assert.deepEqual(errors, []);
  const session = (await runtime.find('x')) ?? assert.fail();
  const { status, failures } = await session.status();
  assert.deepEqual([status, failures], ['queued', 0]);
  await session.send('Hi').accepted;
  while ((await session.status()).status !== 'quarantined') await new Promise(setImmediate);
  assert.equal(errors.length, 3);
});

for (const moves of [true, false]) {
  test(`the first input of a session of this release, to a removed place, is ${moves ? 'moved by migrate' : 'refused visibly'}, and the session runs`, async () => {
    const store = new MemoryStore();
    const key = { appName: 'petrichor', userId: 'default', sessionId: 'x' };
    const migrate = (): { moved: Record<string, string> } => ({
      moved: { 'box.letters': 'box.mail' },
    });
    const newer = boxed('box.mail', moves ? migrate : undefined);
    await store.join('gone');
    await store.create(key, { agent: 'clerk', owner: 'gone', at: 0, netHash: newer.compiled.hash });
    await store.leave('gone');
    await store.inject(key, { place: 'box.letters', value: 'Dear all' }, 'signal:letter');
    const errors: unknown[] = [];
    await using runtime = await openRuntime({
      agents: [newer],
      store,
      onError: (error) => errors.push(error),
    });
    const session = await runtime.session('x');
    assert.equal(await session.ask('Hi'), 'Yes.');
    const { places } = await session.markingAt();
    const mail = places['box.mail'];
    assert.equal(mail?.kind === 'tokens' && mail.tokens?.length === 1, moves);
    assert.equal((await listRejected(session)).length, moves ? 0 : 1);
    assert.deepEqual(errors, []);
  });
}

test('a rejected input leaves no event in a closed session', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [boxed('box.letters')], store });
  const session = await runtime.session('x');
  await session.archive();
  const { lastSeq } = await session.status();
  await store.inject(session.key, { place: 'box.none', value: 'Dear all' }, 'signal:letter');
  await runtime.session('x');
  await untilRead(session);
  assert.equal((await session.status()).lastSeq, lastSeq);
});
