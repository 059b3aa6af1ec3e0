import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText, deriveInvocationId } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore, StoreUnavailableError } from '../../store/index.ts';
import type {
  CommitResult,
  InboxInput,
  InjectReceipt,
  SettledStep,
  SharedState,
} from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';

/** A store that counts what is written, and runs a test's code before a commit that accepts inputs. */
class WatchedStore extends MemoryStore {
  readonly injected: string[] = [];
  readonly refused: string[] = [];
  commits = 0;
  beforeAccepting: (() => Promise<void>) | undefined;
  afterAccepting: (() => void) | undefined;
  beforeLoadingShared: (() => Promise<void>) | undefined;

  override async shared(...args: Parameters<MemoryStore['shared']>): Promise<SharedState> {
    const act = this.beforeLoadingShared;
    this.beforeLoadingShared = undefined;
    await act?.();
    return super.shared(...args);
  }

  override async inject(...args: Parameters<MemoryStore['inject']>): Promise<InjectReceipt> {
    this.injected.push(args[2]);
    return super.inject(...args);
  }

  override async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.commits++;
    const act = this.beforeAccepting;
    if (act !== undefined && steps.some(({ accepts }) => accepts !== undefined)) {
      this.beforeAccepting = undefined;
      await act();
    }
    const results = await super.commit(steps);
    for (const result of results) if (!result.ok) this.refused.push(result.refused);
    if (results.some((result) => result.ok && result.inputs !== undefined)) {
      const next = this.afterAccepting;
      this.afterAccepting = undefined;
      next?.();
    }
    return results;
  }
}

const isUnavailable = (): never => {
  throw new StoreUnavailableError('io', 'memory');
};

const echo = (): Agent =>
  agent({
    name: 'echo',
    model: new ScriptedModel(({ contents }) => ({
      text: `You said ${contentText(contents.at(-1))}`,
      deltas: 4,
    })),
  });

/** Opens a session that rests after a turn. */
async function openRested(
  store: WatchedStore,
  agents: readonly Agent[] = [echo()],
): Promise<{ readonly runtime: Runtime; readonly session: Session }> {
  // No scan comes.
  const clock = new SimulatedClock(1);
  const runtime = await openRuntime({ agents, store, clock });
  const session = await runtime.session('x');
  for await (const _ of session.send('zero', { messageId: 'm0' }));
  store.injected.length = 0;
  store.commits = 0;
  return { runtime, session };
}

async function readAnswers(session: Session): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'agent.message') texts.push(contentText(event.content));
  return texts;
}

function textInput(text: string, messageId: string): InboxInput {
  const content = { role: 'user', parts: [{ text }] };
  const invocationId = deriveInvocationId(messageId);
  return { place: 'user.in', value: { messageId, invocationId, content } };
}

test('a message to a session at rest is accepted with its step, and its number follows the inbox', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  const turn = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await turn.receipt, { inputSeq: 2, duplicate: false });
  assert.equal(await turn.text(), 'You said one');
  assert.deepEqual(store.injected, []);
  assert.equal(store.commits, 2);
  const again = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await again.receipt, { inputSeq: 2, duplicate: true });
  assert.equal(await again.text(), 'You said one');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
  assert.deepEqual(await session.send('two').receipt, { inputSeq: 3, duplicate: false });
});

test('all pieces of the answer reach the reader, also when the message had no inbox', async () => {
  const { runtime, session } = await openRested(new WatchedStore());
  await using _ = runtime;
  let text = '';
  for await (const event of session.send('one two three'))
    if (event.type === 'partial' && event.kind === 'text') text += event.text;
  assert.equal(text, 'You said one two three');
});

test('a message that is sent again changes nothing', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  const before = await store.find(session.key);
  for await (const _ of session.send('again', { messageId: 'm0' }));
  await runtime[Symbol.asyncDispose]();
  assert.deepEqual(store.refused, ['inputs']);
  assert.equal((await store.find(session.key))?.head, before?.head);
});

test('a message that another process accepted first under the same id counts once', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.beforeAccepting = async () =>
    void (await store.inject(session.key, textInput('one', 'm1'), 'message:m1'));
  const turn = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await turn.receipt, { inputSeq: 2, duplicate: true });
  assert.equal(await turn.text(), 'You said one');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
  assert.deepEqual(await store.inbox(session.key, 0), []);
});

test('an input that is in the inbox by the time of the commit comes first', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.beforeAccepting = async () =>
    void (await store.inject(session.key, textInput('other', 'm1'), 'message:m1'));
  const turn = session.send('own', { messageId: 'm2' });
  assert.deepEqual(await turn.receipt, { inputSeq: 3, duplicate: false });
  assert.deepEqual(store.refused, ['inputs']);
  assert.equal(await turn.text(), 'You said own');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said other', 'You said own']);
});

test('an input that is in the inbox by the time of the step comes first', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.beforeLoadingShared = async () =>
    void (await store.inject(session.key, textInput('other', 'm1'), 'message:m1'));
  const turn = session.send('own', { messageId: 'm2' });
  assert.deepEqual(await turn.receipt, { inputSeq: 3, duplicate: false });
  assert.equal(await turn.text(), 'You said own');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said other', 'You said own']);
});

test('messages that are sent without waiting keep their order', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  const turns = ['a', 'b', 'c', 'd'].map((text) => session.send(text));
  const receipts = await Promise.all(turns.map(async ({ accepted }) => accepted));
  assert.deepEqual(receipts, [2, 3, 4, 5]);
  assert.equal(await turns.at(-1)?.text(), 'You said d');
  assert.deepEqual(
    await readAnswers(session),
    ['zero', 'a', 'b', 'c', 'd'].map((text) => `You said ${text}`),
  );
});

test('inputs of a batch come after a message that was sent before it', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  const batch = runtime.batch();
  const inBatch = await batch.session('x');
  const added = await batch.add(() => inBatch.send('second').accepted);
  const submitted = Promise.withResolvers<unknown>();
  store.beforeAccepting = async () => {
    submitted.resolve(batch.submit());
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  };
  assert.equal(await session.send('first').accepted, 2);
  await submitted.promise;
  assert.equal(await added.done, 3);
});

test('an interrupt stops the turn of a message that is being accepted', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  const interrupted = Promise.withResolvers<void>();
  store.beforeAccepting = async () => {
    void session.interrupt().then(interrupted.resolve, interrupted.reject);
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  };
  const reasons: string[] = [];
  for await (const event of session.send('one'))
    if (event.type === 'turn.ended') reasons.push(event.stopReason);
  await interrupted.promise;
  assert.deepEqual(reasons, ['interrupted']);
});

test('a former owner gives the message to the inbox, and the new owner answers it once', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.beforeAccepting = async () => void (await store.evict(session.key));
  const turn = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await turn.receipt, { inputSeq: 2, duplicate: false });
  assert.deepEqual(store.injected, ['message:m1']);
  assert.equal(await turn.text(), 'You said one');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
});

test('a conflict in shared state repeats the step, and the message counts once', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  await using second = await openRuntime({ agents: [echo()], store });
  const other = await second.session('y');
  store.beforeAccepting = async () =>
    void (await other.send('hi', { stateDelta: { 'user:n': 1 } }).text());
  const turn = session.send('one', { messageId: 'm1', stateDelta: { 'user:n': 2 } });
  assert.equal(await turn.text(), 'You said one');
  assert.equal(await turn.accepted, 2);
  assert.deepEqual(store.refused, ['conflict']);
  assert.deepEqual(
    store.injected.filter((key) => key === 'message:m1'),
    [],
  );
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
});

test('the error of a commit whose outcome is unknown is the error of the message', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  store.beforeAccepting = async () => {
    store.beforeAccepting = async () => {
      throw new Error('the disk is gone');
    };
    throw new StoreUnavailableError('io', 'memory');
  };
  // The committer tries again while the store is unavailable.
  await assert.rejects(session.send('one', { messageId: 'm1' }).accepted, /the disk is gone/);
  assert.equal(await session.send('one', { messageId: 'm1' }).text(), 'You said one');
  await runtime.close();
});

test('a step that was committed before its store was unavailable is no stale one', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.afterAccepting = isUnavailable;
  const turn = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await turn.receipt, { inputSeq: 2, duplicate: false });
  assert.equal(await turn.text(), 'You said one');
  assert.deepEqual(store.refused, ['stale']);
  assert.deepEqual(store.injected, []);
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
});

test('an owner that lost the session does not take the step of the next owner for its own', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  store.afterAccepting = () => {
    void store.evict(session.key);
    isUnavailable();
  };
  const turn = session.send('one', { messageId: 'm1' });
  assert.deepEqual(await turn.receipt, { inputSeq: 2, duplicate: true });
  assert.equal(await turn.text(), 'You said one');
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
});

test('a message that is sent while the session is being released is kept', async () => {
  const store = new WatchedStore();
  const { runtime, session } = await openRested(store);
  await using _ = runtime;
  const turn = session.send('one', { messageId: 'm1' });
  const released = session.close();
  assert.equal(await turn.accepted, 2);
  await released;
  assert.equal(
    await (await runtime.session('x')).send('one', { messageId: 'm1' }).text(),
    'You said one',
  );
  assert.deepEqual(await readAnswers(session), ['You said zero', 'You said one']);
});

test('an approval of a call that waits is accepted with its step, and a second one is refused', async () => {
  const store = new WatchedStore();
  const paid: string[] = [];
  const payer = agent({
    name: 'payer',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'tool' || contentText(contents.at(-1)) === 'zero'
        ? { text: 'Done.' }
        : { toolCalls: [{ name: 'pay' }] },
    ),
    tools: [
      tool({
        name: 'pay',
        description: 'Pays.',
        needsApproval: true,
        execute: (_, { callId }) => void paid.push(callId),
      }),
    ],
  });
  const { runtime, session } = await openRested(store, [payer]);
  await using _ = runtime;
  for await (const _event of session.send('pay'));
  const [call] = await session.pending();
  const id = call?.id ?? '';
  // The other process is first.
  const answer = { callId: id, decision: 'denied' };
  store.beforeAccepting = async () =>
    void (await store.inject(session.key, { place: 'answer.in', value: answer }, `answer:${id}`));
  await assert.rejects(session.approve(id).accepted, { code: 'already_answered' });
  for await (const event of session.events()) if (event.type === 'tool.answered') break;
  assert.deepEqual(paid, []);
  for await (const _event of session.send('pay again'));
  const [second] = await session.pending();
  store.injected.length = 0;
  store.afterAccepting = isUnavailable;
  assert.equal(await session.approve(second?.id ?? '').text(), 'Done.');
  assert.deepEqual(store.injected, []);
  assert.deepEqual(paid, [second?.id]);
});
