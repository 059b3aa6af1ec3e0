import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../src/agents/index.ts';
import { manageRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { SimulatedProcess, KillableStore } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';

const poet = agent({ name: 'poet', model: new ScriptedModel(() => ({ text: 'A line.' })) });
const lead = agent({
  name: 'lead',
  model: new ScriptedModel(({ contents }) =>
    contents.length === 1
      ? { toolCalls: [{ name: 'poet', args: { request: 'a line' } }] }
      : { text: 'Here.' },
  ),
  tools: [agentTool(poet)],
});

/** A session that a program made. */
const ref = { id: 's', userId: 'ana' };

interface Scene {
  readonly store: MemoryStore;
  /** What is kept for sessions outside the store. */
  readonly folders: Set<string>;
  readonly open: (process: SimulatedProcess) => Promise<ManagedRuntime>;
  /** Sets an error that the next deletions of folders throw. */
  readonly failWith: (error: Error | undefined) => void;
}

function createScene(): Scene {
  const store = new MemoryStore();
  const folders = new Set<string>();
  let failure: Error | undefined;
  return {
    store,
    folders,
    failWith: (error) => {
      failure = error;
    },
    open: async (process) => {
      const runtime = await openRuntime({
        agents: [lead],
        store: new KillableStore(store, process),
      });
      return manageRuntime(runtime, {
        onDelete: async ({ sessionId }) => {
          // A dead process deletes nothing.
          if (process.isOver) await process.never();
          if (failure !== undefined) throw failure;
          folders.delete(sessionId);
        },
        onError: () => {},
      });
    },
  };
}

/** Makes a session with one of a called agent, labels, and a folder for each. */
async function makeSession(managed: ManagedRuntime, folders: Set<string>): Promise<void> {
  const session = await managed.runtime.session('s', { user: 'ana', agent: 'lead' });
  for await (const _ of session.send('Ask'));
  await managed.updateSession(ref, { title: 'Mine' });
  const [thread] = await managed.threads(ref);
  for (const id of ['s', thread?.id ?? assert.fail()]) folders.add(id);
}

test('the deletion of a session that a program made is continued after a crash at any write', async () => {
  let interruptions = 0;
  for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
    for (let nth = 1; ; nth++) {
      const { store, folders, open } = createScene();
      const hostProcess = new SimulatedProcess();
      const managed = await open(hostProcess);
      await makeSession(managed, folders);
      hostProcess.crashAt({ point, nth });
      const deleting = managed.deleteSession(ref).then(() => 'deleted');
      deleting.catch(() => {});
      const wasInterrupted = (await Promise.race([deleting, hostProcess.over])) !== 'deleted';
      for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
      const second = await open(new SimulatedProcess());
      // Before its first write the deletion has not begun.
      const isThere = (await store.list({})).length > 0;
      assert.equal(isThere, wasInterrupted && point === 'before-write' && nth === 1);
      if (isThere) {
        assert.equal(folders.size, 2);
        assert.equal(await second.deleteSession(ref), true);
      }
      assert.deepEqual([...folders], [], `${point} ${nth}`);
      assert.deepEqual(await store.list({}), []);
      assert.deepEqual(
        await store.documents({ kind: 'session-deletion-without-record' }),
        [],
        `${point} ${nth}`,
      );
      assert.deepEqual(await store.documents({ kind: 'session-labels' }), []);
      assert.equal(await second.deleteSession(ref), false);
      await second.runtime.close();
      hostProcess.discard();
      if (!wasInterrupted) break;
      interruptions++;
    }
  }
  assert.ok(interruptions >= 7, `${interruptions} interruptions`);
});

test('a deletion whose onDelete failed is continued by the next deletion', async () => {
  const { folders, open, failWith } = createScene();
  const managed = await open(new SimulatedProcess());
  await makeSession(managed, folders);
  failWith(new Error('The disk is gone.'));
  await assert.rejects(managed.deleteSession(ref), /disk/);
  assert.equal(folders.size, 2);
  failWith(undefined);
  assert.equal(await managed.deleteSession(ref), true);
  assert.deepEqual([...folders], []);
  assert.equal(await managed.deleteSession(ref), false);
  await managed.runtime.close();
});

test('a session that was made again after an interrupted deletion is not deleted', async () => {
  const { store, folders, open, failWith } = createScene();
  const managed = await open(new SimulatedProcess());
  await makeSession(managed, folders);
  failWith(new Error('The disk is gone.'));
  await assert.rejects(managed.deleteSession(ref), /disk/);
  const session = await managed.runtime.session('s', { user: 'ana', agent: 'lead' });
  for await (const _ of session.send('Ask'));
  await managed.updateSession(ref, { title: 'New' });
  await managed.runtime.close();
  failWith(undefined);
  const second = await open(new SimulatedProcess());
  assert.equal((await second.getSession(ref)).title, 'New');
  // The folder of the former session's called agent is gone; that of the session may be in use again.
  assert.deepEqual([...folders], ['s']);
  assert.deepEqual(await store.documents({ kind: 'session-deletion-without-record' }), []);
  assert.equal(await second.deleteSession(ref), true);
  assert.deepEqual(await store.list({}), []);
  await second.runtime.close();
});

test('a session that is made again after a crash during a deletion has no labels of the former one', async () => {
  let interruptions = 0;
  for (let nth = 1; ; nth++) {
    const { store, folders, open } = createScene();
    const hostProcess = new SimulatedProcess();
    const managed = await open(hostProcess);
    await makeSession(managed, folders);
    hostProcess.crashAt({ point: 'after-write', nth });
    const deleting = managed.deleteSession(ref).then(() => 'deleted');
    deleting.catch(() => {});
    const wasInterrupted = (await Promise.race([deleting, hostProcess.over])) !== 'deleted';
    for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
    const rows = await store.list({});
    if (!rows.some(({ key }) => key.sessionId === 's')) {
      // A program without managed sessions continues no deletion.
      const program = await openRuntime({ agents: [lead], store });
      await program.session('s', { user: 'ana', agent: 'lead' });
      await program.close();
      const second = await open(new SimulatedProcess());
      assert.equal((await second.getSession(ref)).title, undefined, `${nth}`);
      await second.runtime.close();
      interruptions++;
    }
    hostProcess.discard();
    if (!wasInterrupted) break;
  }
  assert.ok(interruptions >= 2, `${interruptions} interruptions`);
});

test('a session that is made again at any moment of a conditional deletion is not deleted', async () => {
  for (let nth = 1, wasMade = true; wasMade; nth++) {
    const { store, folders, open } = createScene();
    const managed = await open(new SimulatedProcess());
    await makeSession(managed, folders);
    const unchanged = (await store.list({})).map(({ uid, head }) => ({ uid, head }));
    const remaining = { calls: Infinity };
    const make = async (): Promise<void> => {
      remaining.calls = Infinity;
      const session = await managed.runtime.session('s', { user: 'ana', agent: 'lead' });
      for await (const _ of session.send('Ask again'));
    };
    const [find, writeDocuments, remove] = [
      store.find.bind(store),
      store.writeDocuments.bind(store),
      store.delete.bind(store),
    ];
    store.find = async (key) => {
      if (--remaining.calls === 0) await make();
      return find(key);
    };
    store.writeDocuments = async (changes) => {
      if (--remaining.calls === 0) await make();
      return writeDocuments(changes);
    };
    store.delete = async (key, condition) => {
      if (--remaining.calls === 0) await make();
      const isDeleted = await remove(key, condition);
      if (condition !== undefined) remaining.calls = nth;
      return isDeleted;
    };
    assert.equal(await managed.deleteSession(ref, { unchanged }), true);
    wasMade = remaining.calls === Infinity;
    const row = await find({ appName: managed.runtime.app, userId: 'ana', sessionId: 's' });
    assert.equal(row !== undefined, wasMade, `call ${nth} after the deletion`);
    assert.deepEqual(await store.documents({ kind: 'session-deletion-without-record' }), []);
    await managed.runtime.close();
  }
});
