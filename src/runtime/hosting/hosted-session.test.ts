import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, sessionWrite } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, net, place, pure, SimulatedClock } from '../../net/index.ts';
import { MemoryStore, StoreUnavailableError } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { recordingObserver } from '../interceptors/observer.ts';
import { openRuntime } from '../open-runtime.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;
const rung = place('bell.rung', anything, { environment: true, version: 1 });
const bell = net('bell', {
  in: { rung },
  out: { sessionWrite },
  transitions: [
    pure('bell.count', {
      take: { rung },
      give: allOf({ write: sessionWrite }),
      run: () => ({ write: { writes: { increment: { rung: 1 } } } }),
    }),
  ],
});
const echo = agent({
  name: 'echo',
  extensions: [bell],
  model: new ScriptedModel(({ contents }) => ({
    text: `You said ${contentText(contents.at(-1))}`,
  })),
});

/** A store whose `shared` is delayed, or fails, under the control of a test. */
class ControlledStore extends MemoryStore {
  beforeShared: (() => Promise<void>) | undefined;

  override async shared(
    scope: Parameters<MemoryStore['shared']>[0],
  ): ReturnType<MemoryStore['shared']> {
    await this.beforeShared?.();
    return super.shared(scope);
  }
}

test('inputs enter the net in the order of acceptance, also with concurrent pulls', async () => {
  const store = new ControlledStore();
  const readStarted = Promise.withResolvers<void>();
  const readAllowed = Promise.withResolvers<void>();
  const record = recordingObserver();
  await using runtime = await openRuntime({ agents: [echo], store, observers: [record.observe] });
  const session = await runtime.session('x');
  for await (const _ of session.send('zero'));
  const { lastSeq } = await session.status();
  store.beforeShared = async () => {
    readStarted.resolve();
    await readAllowed.promise;
  };
  // A message in the inbox, as another process writes it.
  const batch = runtime.batch();
  const sender = await batch.session('x');
  const { done } = await batch.add(() => sender.send('one').accepted);
  await batch.submit();
  await done;
  await readStarted.promise;
  await session.inject(rung, null, { dedupeKey: 'a' });
  const opened = [runtime.session('x'), runtime.session('x')];
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  readAllowed.resolve();
  await Promise.all(opened);
  for await (const event of session.events(lastSeq)) if (event.type === 'turn.ended') break;
  const places = record.committed.flatMap(({ records }) =>
    records.flatMap((one) => (one.kind === 'injected' ? one.give.map(([name]) => name) : [])),
  );
  assert.deepEqual(places.slice(-2), ['user.in', 'bell.rung']);
});

test('an input that failed to load is processed before later ones', async () => {
  const store = new ControlledStore();
  const reportedError = Promise.withResolvers<unknown>();
  await using runtime = await openRuntime({
    agents: [echo],
    store,
    onError: reportedError.resolve,
  });
  const session = await runtime.session('x');
  for await (const _ of session.send('zero'));
  let failures = 0;
  store.beforeShared = async () => {
    // First the message is given to the session directly, then through its inbox.
    if (++failures === 2) store.beforeShared = undefined;
    throw new StoreUnavailableError('busy', 'a store in a test');
  };
  const turn = session.send('one');
  await reportedError.promise;
  await session.inject(rung, null, { dedupeKey: 'a' });
  const texts: string[] = [];
  for await (const event of turn)
    if (event.type === 'agent.message') texts.push(contentText(event.content));
  assert.deepEqual(texts, ['You said one']);
});

test('a session whose step the store rejects is loaded again, with its effects in flight', async () => {
  let broken = false;
  const store = new MemoryStore({
    failpoints: {
      beforeCommit: () => {
        if (broken) throw new Error('a defect');
      },
    },
  });
  const starts: number[] = [];
  const began = Promise.withResolvers<void>();
  const look = tool({
    name: 'look',
    description: 'Looks.',
    readOnly: true,
    execute: async (_, { attempt, signal }) => {
      starts.push(attempt);
      if (attempt > 1) return 'seen';
      began.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
    },
  });
  const looker = agent({
    name: 'looker',
    extensions: [bell],
    tools: [look],
    model: new ScriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]),
  });
  const reportedError = Promise.withResolvers<unknown>();
  await using runtime = await openRuntime({
    agents: [looker],
    store,
    onError: reportedError.resolve,
  });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await began.promise;
  await session.inject(rung, null, { dedupeKey: 'a' });
  broken = true;
  await reportedError.promise;
  broken = false;
  const types: string[] = [];
  for await (const { type } of turn) types.push(type);
  assert.deepEqual(starts, [1, 2]);
  assert.equal(types.at(-1), 'turn.ended');
  assert.equal((await session.status()).failures, 0);
});

test('an interrupt that arrived while the session had no owner takes effect before any effect restarts', async () => {
  const store = new MemoryStore();
  const starts: number[] = [];
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const look = tool({
    name: 'look',
    description: 'Looks.',
    readOnly: true,
    execute: async (_, { attempt }) => {
      starts.push(attempt);
      began.resolve();
      await end.promise;
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'look' }] }]);
  const agents = [agent({ name: 'looker', tools: [look], model })];
  await using first = await openRuntime({ agents, store });
  const session = await first.session('x');
  const { invocationId } = session.send('go');
  await began.promise;
  // The owner is gone; another runtime stops the turn.
  const { owner } = await session.status();
  await store.leave(owner ?? '');
  const input = { place: 'interrupt.in', value: { invocationId } };
  await store.inject(session.key, input, `interrupt:${invocationId}`);
  await using second = await openRuntime({ agents, store });
  const secondSession = await second.session('x');
  for await (const event of secondSession.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(starts, [1]);
  end.resolve();
});

test('an answer that arrived in time counts, although the session had no owner until the timeout', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const ask = tool({ name: 'ask', description: 'Asks.', timeoutMs: 60_000 });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Thank you.' }]);
  const agents = [agent({ name: 'asker', tools: [ask], model })];
  let callId = '';
  {
    await using first = await openRuntime({ agents, store, clock });
    const session = await first.session('x');
    for await (const _ of session.send('go'));
    callId = (await session.pending())[0]?.callId ?? '';
  }
  const input = { place: 'answer.in', value: { callId, decision: 'answered', response: { a: 1 } } };
  const key = { appName: 'petrichor', userId: 'default', sessionId: 'x' };
  await store.inject(key, input, `answer:${callId}`);
  clock.advance(120_000);
  await using second = await openRuntime({ agents, store, clock });
  const secondSession = await second.session('x');
  const outcomes: string[] = [];
  for await (const event of secondSession.events()) {
    if (event.type === 'tool.result') outcomes.push(event.outcome);
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual(outcomes, ['ok']);
});
