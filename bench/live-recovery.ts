import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../src/client/index.ts';
import { QuickClient } from '../test/server/live/quick-client.ts';
import { ServeProcess } from '../test/server/serve-process.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';

/** How long a speaking agent is silent when its server is killed. */
export interface LiveRecovery {
  readonly kills: number;
  /** Milliseconds from the first attempt to reconnect, when the next server listens, to audio of the model. Sorted. */
  readonly silenceMs: readonly number[];
  /** Milliseconds from the kill, with the start of the next process. Sorted. */
  readonly gapMs: readonly number[];
}

/** Kills a server with SIGKILL while its model speaks, again and again, and starts the next one on the same port. */
export async function measureLiveRecovery({
  quick,
}: {
  readonly quick: boolean;
}): Promise<LiveRecovery> {
  return withTemporaryFolder(async (folder) => {
    const start = async (port: string): Promise<ServeProcess> =>
      ServeProcess.start({
        folder,
        args: [join(import.meta.dirname, 'talking-agent.ts'), '--live', '--port', port],
      });
    let server = await start('0');
    const { port, url, agents } = server;
    try {
      const http = createClient({ baseUrl: url });
      const { id } = await http.sessions.create({ agent: agents[0] ?? '' });
      const client = new QuickClient(`${url}/v1/sessions/${id}/live`);
      const untilHeard = async (): Promise<number> => {
        while (client.playedAt === undefined) await sleep(1);
        return client.playedAt;
      };
      await client.connect();
      client.speak(200, 4_000);
      client.speak(200, 0);
      await untilHeard();
      const kills = quick ? 2 : 40;
      const silenceMs: number[] = [];
      const gapMs: number[] = [];
      for (let kill = 0; kill < kills; kill++) {
        // Somewhere in its sentence.
        await sleep((kill * 37) % 200);
        const killedAt = performance.now();
        await server.end('SIGKILL');
        client.close();
        server = await start(port);
        const reconnectedAt = performance.now();
        await client.connect();
        const heardAt = await untilHeard();
        silenceMs.push(heardAt - reconnectedAt);
        gapMs.push(heardAt - killedAt);
      }
      client.close();
      const sort = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => a - b);
      return { kills, silenceMs: sort(silenceMs), gapMs: sort(gapMs) };
    } finally {
      await server[Symbol.asyncDispose]();
    }
  });
}
