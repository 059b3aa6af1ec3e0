import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openManagedRuntime } from '../src/managed/index.ts';
import type { ManagedRuntime } from '../src/managed/index.ts';
import { createServer, listen } from '../src/server/index.ts';
import { openStore } from '../src/store/index.ts';
import { ScriptedModel } from '../src/testing/index.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import type { ReadersPlan, ReadersReport } from './server-readers.ts';

export interface ServerStreams extends ReadersReport {
  readonly streams: number;
  /** Bytes of the server's process above what it was before the first stream, garbage collected. */
  readonly residentBytes: number;
  readonly turnsPerSecond: number;
}

/**
 * What many open streams cost a server, and how long an event takes from its place in the log to a reader of it. The
 * readers are a process of their own.
 * @throws Error without `--expose-gc`
 */
export async function measureServer({
  quick,
}: {
  readonly quick: boolean;
}): Promise<ServerStreams> {
  return withTemporaryFolder(async (folder) => {
    const [sessions, readersEach, turns] = quick ? [5, 4, 1] : [100, 10, 5];
    const store = await openStore(`sqlite:${join(folder, 'store.db')}`);
    const model = new ScriptedModel(() => ({ text: 'Hello from the other side.' }));
    const runtime = await openManagedRuntime({ store, resolver: async () => model });
    const limits = { requestsPerMinute: 1_000_000 };
    const server = await createServer({ runtime, store, keys: 'off', limits });
    const listening = await listen(server, { port: 0, keysRequired: false });
    const { id: agent } = await runtime.create({ name: 'Helper', model: 'gpt-5' });
    const ids: string[] = [];
    for (let n = 0; n < sessions; n++)
      ids.push((await runtime.startSession(agent, { userId: 'default' })).id);
    const before = await residentBytes();
    const plan: ReadersPlan = { url: listening.url, sessions: ids, readersEach, turns };
    const readers = fork(join(import.meta.dirname, 'server-readers.ts'), [JSON.stringify(plan)]);
    await once(readers, 'message');
    const residentBytesOfStreams = (await residentBytes()) - before;
    const startedAt = performance.now();
    const [[report]] = await Promise.all([once(readers, 'message'), speak(runtime, ids, turns)]);
    const seconds = (performance.now() - startedAt) / 1000;
    readers.kill();
    await listening.close();
    await runtime.close();
    await store.close();
    return {
      // What the readers tell last.
      ...(report as ReadersReport),
      streams: sessions * readersEach,
      residentBytes: residentBytesOfStreams,
      turnsPerSecond: (sessions * turns) / seconds,
    };
  });
}

/** Some turns of every session, one after the other, in all of them side by side. */
async function speak(
  runtime: ManagedRuntime,
  ids: readonly string[],
  turns: number,
): Promise<void> {
  const content = [{ type: 'text', text: 'Is anybody there?' }] as const;
  await Promise.all(
    ids.map(async (id, index) => {
      // Not all in the same moment: it is the way of an event that is measured, and not a crowd's.
      await delay(index * 20);
      for (let turn = 0; turn < turns; turn++) {
        if (turn > 0) await delay(2000);
        const { lastSeq } = await runtime.getSession(id);
        await runtime.sendEvent(id, { type: 'user.message', content });
        for await (const event of runtime.streamLog(id, lastSeq))
          if (event.type === 'turn.ended') break;
      }
    }),
  );
}

async function residentBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  for (let round = 0; round < 4; round++) {
    await delay(100);
    await globalThis.gc({ type: 'major', execution: 'async', flavor: 'last-resort' });
  }
  return process.memoryUsage().rss;
}
