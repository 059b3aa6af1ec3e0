import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCommitter } from './committer.ts';
import {
  collect,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
} from '../../store/contract/index.ts';
import {
  MemoryStore,
  InvalidStepError,
  StoreClosedError,
  StoreUnavailableError,
} from '../../store/internal.ts';
import type { CommitResult, SessionRow, SettledStep, Store } from '../../store/index.ts';

test('the steps that settle in one turn of the event loop are one commit', async () => {
  const { store, rows, batches } = await makeStore(50);
  const committer = createCommitter({ store });
  const results = await Promise.all(rows.map((row) => committer.commit(nextStep(row))));
  assert.ok(results.every(({ ok }) => ok));
  assert.deepEqual(batches, [50]);
});

test('each session gets its own result', async () => {
  const { store, rows, batches } = await makeStore(3);
  const committer = createCommitter({ store });
  const [a, b, c] = await Promise.all(
    rows.map((row, index) => committer.commit(nextStep(index === 1 ? { ...row, epoch: 9 } : row))),
  );
  assert.deepEqual([a, b, c], [{ ok: true }, { ok: false, refused: 'stale' }, { ok: true }]);
  assert.deepEqual(batches, [3]);
});

test('steps that settle during a commit go into the next one', async () => {
  const { store, rows } = await makeStore(2);
  const order: string[] = [];
  const slow = slowed(store, order);
  const committer = createCommitter({ store: slow.store });
  const [a, b] = rows;
  assert.ok(a && b);
  const first = committer.commit(nextStep(a));
  await slow.begun;
  const second = committer.commit(nextStep(b));
  await turn();
  assert.deepEqual(order, ['s0']);
  slow.goOn();
  assert.deepEqual(await Promise.all([first, second]), [{ ok: true }, { ok: true }]);
  assert.deepEqual(order, ['s0', 's1']);
});

test('while the store is unavailable, steps wait in order and stay unsettled', async () => {
  const { store, rows, fill } = await makeStore(2);
  const [a, b] = rows;
  assert.ok(a && b);
  const pauses: number[] = [];
  const settledOrder: number[] = [];
  const settled: string[] = [];
  const committer = createCommitter({
    store,
    onUnavailable: (error, attempt) => {
      assert.equal(error.reason, 'full');
      settledOrder.push(attempt);
    },
    sleep: async (ms) => {
      pauses.push(ms);
      // Another session settles meanwhile. After some attempts the store has room again.
      if (pauses.length === 2) void committer.commit(nextStep(b)).then(() => settled.push('b'));
      if (pauses.length === 9) fill(false);
      assert.deepEqual(settled, []);
      await turn();
    },
  });
  fill(true);
  const result = await committer.commit(nextStep(a)).then((value) => {
    settled.push('a');
    return value;
  });
  assert.deepEqual(result, { ok: true });
  await committer.close();
  assert.deepEqual(settled, ['a', 'b']);
  assert.deepEqual(settledOrder, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(pauses, [20, 40, 80, 160, 320, 640, 1280, 2000, 2000]);
});

test('a step that arrives during a failed commit is committed after the steps of that commit', async () => {
  const { store, rows } = await makeStore(2);
  const [a, b] = rows;
  assert.ok(a && b);
  const tries: string[] = [];
  const failing = overCommit(store, async (steps) => {
    tries.push(steps.map(({ key }) => key.sessionId).join());
    if (tries.length > 1) return store.commit(steps);
    second = committer.commit(nextStep(b));
    throw new StoreUnavailableError('io', 'in memory');
  });
  let second: Promise<unknown> | undefined;
  const committer = createCommitter({ store: failing, sleep: turn });
  assert.deepEqual(await committer.commit(nextStep(a)), { ok: true });
  assert.deepEqual(await second, { ok: true });
  assert.deepEqual(tries, ['s0', 's0,s1']);
});

test('a step that cannot be committed fails alone', async () => {
  const { store, rows } = await makeStore(3);
  const committer = createCommitter({ store });
  const outcomes = await Promise.allSettled(
    rows.map((row, index) =>
      committer.commit(nextStep(row, index === 1 ? { records: 7, events: 7 } : undefined)),
    ),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.ok(outcomes[1]?.status === 'rejected' && outcomes[1].reason instanceof InvalidStepError);
  assert.equal((await collect(store.read(sessionKey('s2')))).length, 2);
});

test('a step whose session is busy is retried alone, and the others of its batch are committed', async () => {
  const { store, rows } = await makeStore(3);
  const [a, b, c] = rows;
  assert.ok(a && b && c);
  let isBusy = true;
  const tries: string[] = [];
  const settledOrder: number[] = [];
  const busy = overCommit(store, async (steps) => {
    tries.push(steps.map(({ key }) => key.sessionId).join());
    if (!isBusy) return store.commit(steps);
    if (steps.length === 1 && steps[0]?.key.sessionId === 's1')
      throw new StoreUnavailableError('busy', 'in memory');
    const written = await store.commit(steps.filter(({ key }) => key.sessionId !== 's1'));
    const left = [...written];
    return steps.map(({ key }) =>
      key.sessionId === 's1' ? BUSY : (left.shift() ?? assert.fail('no result')),
    );
  });
  const further = nextStep({ ...a, head: 1 }, { records: 2, events: 2 });
  const committer = createCommitter({
    store: busy,
    onUnavailable: (_, attempt) => settledOrder.push(attempt),
    sleep: async () => {
      await turn();
      if (settledOrder.length < 3) return;
      // Other sessions are committed meanwhile.
      assert.deepEqual(await committer.commit(further), { ok: true });
      isBusy = false;
    },
  });
  const stuck = committer.commit(nextStep(b));
  const others = [committer.commit(nextStep(a)), committer.commit(nextStep(c))];
  assert.deepEqual(await Promise.all(others), [{ ok: true }, { ok: true }]);
  // Committed after the first step of its session, which waits.
  const behind = committer.commit(nextStep({ ...b, head: 1 }, { records: 2, events: 2 }));
  assert.deepEqual(await Promise.all([stuck, behind]), [{ ok: true }, { ok: true }]);
  assert.deepEqual(settledOrder, [1, 2, 3]);
  assert.deepEqual(tries, ['s1,s0,s2', 's1', 's1', 's1', 's0', 's1', 's1']);
  await committer.close();
});

test('when the store reports a whole batch as busy, each step is retried alone', async () => {
  const { store, rows } = await makeStore(3);
  const tries: string[] = [];
  const busy = overCommit(store, async (steps) => {
    tries.push(steps.map(({ key }) => key.sessionId).join());
    if (steps.length > 1) throw new StoreUnavailableError('busy', 'in memory');
    return store.commit(steps);
  });
  const committer = createCommitter({ store: busy });
  const results = await Promise.all(rows.map((row) => committer.commit(nextStep(row))));
  assert.ok(results.every(({ ok }) => ok));
  assert.deepEqual(tries, ['s0,s1,s2', 's0', 's1', 's2']);
});

test('a closing committer drops a step whose session stays busy', async () => {
  const { store, rows } = await makeStore(2);
  const busy = overCommit(store, async (steps) => {
    if (steps.length === 1) throw new StoreUnavailableError('busy', 'in memory');
    return steps.map(() => BUSY);
  });
  const committer = createCommitter({ store: busy, sleep: turn, closeAttempts: 2 });
  const results = Promise.allSettled(rows.map((row) => committer.commit(nextStep(row))));
  await turn();
  await committer.close();
  for (const { status } of await results) assert.equal(status, 'rejected');
});

test('a closing committer commits its pending steps and accepts no more', async () => {
  const { store, rows } = await makeStore(2);
  const committer = createCommitter({ store });
  const results = Promise.all(rows.map((row) => committer.commit(nextStep(row))));
  await committer.close();
  assert.deepEqual(await results, [{ ok: true }, { ok: true }]);
  const [row] = rows;
  assert.ok(row);
  await assert.rejects(committer.commit(nextStep(row)), StoreClosedError);
});

test('a closing committer drops the steps of an unavailable store after some attempts', async () => {
  const { store, rows, fill } = await makeStore(1);
  const [row] = rows;
  assert.ok(row);
  fill(true);
  const committer = createCommitter({ store, sleep: turn, closeAttempts: 3 });
  const outcome = assert.rejects(committer.commit(nextStep(row)), StoreUnavailableError);
  await committer.close();
  await outcome;
  fill(false);
  assert.equal((await getExisting(store, row.key)).head, 0);
});

const BUSY: CommitResult = { ok: false, refused: 'busy' };

/** A store with sessions `s0`, `s1`, ... that counts the steps of each commit and can report a full disk. */
async function makeStore(count: number): Promise<{
  readonly store: Store;
  readonly rows: readonly SessionRow[];
  readonly batches: readonly number[];
  readonly fill: (full: boolean) => void;
}> {
  let full = false;
  const batches: number[] = [];
  const beforeCommit = (): void => {
    if (full) throw new StoreUnavailableError('full', 'in memory');
  };
  const store = new MemoryStore({ failpoints: { beforeCommit } });
  await store.join('one');
  const rows: SessionRow[] = [];
  for (let index = 0; index < count; index++)
    rows.push(await createSession(store, 'one', `s${index}`));
  const counting = overCommit(store, async (steps) => {
    batches.push(steps.length);
    return store.commit(steps);
  });
  return { store: counting, rows, batches, fill: (value) => void (full = value) };
}

/** A store whose commits wait until they are released. */
function slowed(
  store: Store,
  order: string[],
): { readonly store: Store; readonly begun: Promise<void>; readonly goOn: () => void } {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = overCommit(store, async (steps) => {
    order.push(...steps.map(({ key }) => key.sessionId));
    begun.resolve();
    await gate.promise;
    return store.commit(steps);
  });
  return { store: slow, begun: begun.promise, goOn: () => gate.resolve() };
}

function overCommit(
  store: Store,
  commit: (steps: readonly SettledStep[]) => ReturnType<Store['commit']>,
): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'commit') return commit;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
