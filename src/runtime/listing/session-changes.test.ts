import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError, UnknownFieldError } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { SessionChangeEvent } from './session-changes.ts';

const echo = (name = 'echo'): Agent =>
  agent({ name, model: new ScriptedModel(() => ({ text: 'Yes.' })) });

type Changes = AsyncIterator<SessionChangeEvent>;

/** Reads until the session is at rest with this many events, or deleted. */
async function readUntil(
  changes: Changes,
  id: string,
  lastSeq?: number,
): Promise<SessionChangeEvent> {
  for (;;) {
    const { value: change } = await changes.next();
    if (change === undefined) assert.fail('the stream ended');
    if (change.type === 'current' || change.key.sessionId !== id) continue;
    if (change.type === 'deleted' ? lastSeq === undefined : change.row.lastSeq === lastSeq)
      return change;
  }
}

test('changes() yields created, changed and deleted sessions of every runtime on the store', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [echo()], store });
  await using other = await openRuntime({ agents: [echo()], store });
  const changes = other.changes()[Symbol.asyncIterator]();
  assert.equal((await changes.next()).value?.type, 'current');
  const session = await runtime.session('s');
  const created = (await changes.next()).value;
  assert.equal(created?.type, 'created');
  for await (const _ of session.send('Hi'));
  const { lastSeq } = await session.status();
  const changed = await readUntil(changes, 's', lastSeq);
  assert.ok(changed.type === 'changed' || changed.type === 'created');
  assert.deepEqual(changed.row.status, 'idle');
  await runtime.delete('s');
  const deleted = await readUntil(changes, 's');
  assert.ok(deleted.type === 'deleted');
  assert.equal(deleted.uid, changed.row.uid);
});

test('changes() continues after the cursor of any change, without a gap', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const [start] = await take(runtime.changes()[Symbol.asyncIterator](), 1);
  const ids = Array.from({ length: 250 }, (_, n) => `s${n}`);
  for (const id of ids) await runtime.session(id);
  for (const id of ['s7', 's100', 's249'])
    for await (const _ of (await runtime.session(id)).send('Hi'));
  const lists = (changes: readonly SessionChangeEvent[]): readonly string[] =>
    changes.flatMap((one) => (one.type === 'current' ? [] : [one.key.sessionId]));
  const after = start?.cursor ?? assert.fail();
  const all = await take(runtime.changes({ after })[Symbol.asyncIterator](), 251);
  assert.equal(all.at(-1)?.type, 'current');
  assert.deepEqual(
    new Set(lists(all)),
    new Set(ids),
    'a session that changed several times comes once',
  );
  assert.ok(all.slice(0, 90).every(({ type }) => type === 'created'));
  for (const index of [0, 99, 100, 101, 248]) {
    const rest = await take(
      runtime.changes({ after: all[index]?.cursor ?? '' })[Symbol.asyncIterator](),
      250 - index,
    );
    assert.deepEqual(lists(rest), lists(all.slice(index + 1)));
  }
  await assert.rejects(
    take(runtime.changes({ after: 'x' })[Symbol.asyncIterator](), 1),
    InvalidInputError,
  );
});

test('changes() selects by user and agent, leaves out called agents, and ends with the runtime', async () => {
  const runtime = await openRuntime({ agents: [echo('one'), echo('two')] });
  const changes = runtime.changes({ user: 'ada', agent: 'two' })[Symbol.asyncIterator]();
  assert.equal((await changes.next()).value?.type, 'current');
  await runtime.session('a', { user: 'bob', agent: 'two' });
  await runtime.session('b', { user: 'ada', agent: 'one' });
  await runtime.session('c', { user: 'ada', agent: 'two' });
  const { value } = await changes.next();
  assert.ok(value?.type === 'created');
  assert.equal(value.key.sessionId, 'c');
  assert.throws(() => runtime.changes({ users: 'ada' } as object), UnknownFieldError);
  const end = changes.next();
  await runtime.close();
  assert.equal((await end).done, true);
});

test('an abort signal ends changes() at once', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const controller = new AbortController();
  const seen: string[] = [];
  for await (const { type } of runtime.changes({ signal: controller.signal })) {
    seen.push(type);
    setImmediate(() => controller.abort());
  }
  assert.deepEqual(seen, ['current']);
});

async function take(changes: Changes, count: number): Promise<readonly SessionChangeEvent[]> {
  const taken: SessionChangeEvent[] = [];
  while (taken.length < count) {
    const { value } = await changes.next();
    taken.push(value ?? assert.fail('the stream ended'));
  }
  await changes.return?.();
  return taken;
}
