import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bundleProgram } from '../bundled-program.ts';
import { contentText } from '../../src/core/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { payingAgents } from './called-agents.ts';
import { SimulatedProcess, KillableStore } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

const FINAL = /^Done: .*Done: .*Done: .*paid/;

/** Runs the only turn of a session to its end, and approves its pending calls. */
async function finish(session: Session, processDied?: AbortSignal): Promise<void> {
  await session.send('Go', { messageId: 'm' }).accepted;
  for (;;) {
    const { status, lastSeq } = await session.status();
    const isOver = await hasEnded(session);
    if (isOver) return;
    if (status === 'waiting') {
      const calls = await session.pending();
      // The turn may have resumed since its status was read.
      for (const { id, name, path } of calls) {
        assert.deepEqual([name, path], ['pay', ['clerk', 'payer']]);
        await session.approve(id).accepted.catch((error: unknown) => {
          const code = error instanceof Error && 'code' in error ? error.code : error;
          assert.ok(code === 'call_not_pending' || code === 'already_answered', String(code));
        });
      }
    }
    const more = new AbortController();
    const signal = AbortSignal.any([
      more.signal,
      ...(processDied === undefined ? [] : [processDied]),
    ]);
    for await (const _ of session.events(lastSeq, { signal })) more.abort();
    if (processDied?.aborted === true) return;
  }
}

async function hasEnded(session: Session): Promise<boolean> {
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'turn.ended') return true;
  return false;
}

async function assertPaid(session: Session): Promise<void> {
  const texts: string[] = [];
  const outcomes: string[] = [];
  for await (const event of session.events(0, { follow: false })) {
    if (event.type === 'agent.message') texts.push(contentText(event.content));
    if (event.type === 'tool.result') outcomes.push(event.outcome);
    if (event.type === 'turn.ended') assert.equal(event.stopReason, 'end_turn');
  }
  assert.match(texts.at(-1) ?? '', FINAL);
  assert.deepEqual(outcomes, ['ok']);
}

describe('agents that call each other, in a process that crashes', () => {
  it('continue in the next process after a crash at any write, and the approved call runs once', async () => {
    let crashes = 0;
    for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
      for (let nth = 1; ; nth++) {
        const store = new MemoryStore();
        const payments = new Set<string>();
        const simulated = new SimulatedProcess({ point, nth });
        const agents = [payingAgents((firingId) => payments.add(firingId))];
        const processDied = new AbortController();
        const opening = openRuntime({ agents, store: new KillableStore(store, simulated) });
        const first = (async () => {
          await finish(await (await opening).session('work'), processDied.signal);
          return 'finished';
        })();
        first.catch(() => {});
        const hasCrashed = (await Promise.race([first, simulated.over])) !== 'finished';
        for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
        await using second = await openRuntime({ agents, store });
        const session = await second.session('work', { agent: 'boss' });
        await finish(session);
        await assertPaid(session);
        assert.equal(payments.size, 1, `${point} ${nth}`);
        assert.deepEqual(
          (await store.list({})).map(({ status }) => status),
          ['idle', 'idle', 'idle'],
        );
        processDied.abort();
        simulated.discard();
        await opening.then(async (runtime) => runtime.close()).catch(() => {});
        if (!hasCrashed) break;
        crashes++;
      }
    }
    assert.ok(crashes >= 40, `${crashes} crashes`);
  });

  const runKilledHost = async (
    killPoint: string,
    check: (session: Session) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'called-agents-'));
    const database = join(folder, 'sessions.db');
    try {
      const program = await bundleProgram(new URL('called-agent-host.ts', import.meta.url));
      const host = fork(program, [database, killPoint], { stdio: 'inherit' });
      const exited = once(host, 'exit');
      await once(host, 'message');
      if (killPoint === '') host.kill('SIGKILL');
      await exited;
      const agents = [payingAgents(() => {})];
      await using runtime = await openRuntime({ agents, store: `sqlite:${database}` });
      await check(await runtime.session('work'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it('wait for the approval of a call after SIGKILL, and the root session accepts it in another process', async () =>
    runKilledHost('', async (session) => {
      assert.equal((await session.status()).status, 'waiting');
      const [call] = await session.pending();
      assert.deepEqual([call?.name, call?.path], ['pay', ['clerk', 'payer']]);
      for await (const _ of session.approve(call?.id ?? '')) void _;
      await assertPaid(session);
    }));

  it('get the result of a called agent after SIGKILL between its end and its result', async () =>
    runKilledHost('when a called agent is done', async (session) => {
      for await (const event of session.events()) if (event.type === 'turn.ended') break;
      await assertPaid(session);
    }));
});
