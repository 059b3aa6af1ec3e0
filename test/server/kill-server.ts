import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../src/client/index.ts';
import { freePort } from '../free-port.ts';
import {
  checkEffects,
  checkReaders,
  countRuns,
  listFinishedCalls,
  readAll,
  untilBegun,
} from './killed-run.ts';
import { ServeProcess } from './serve-process.ts';

export interface KillPlan {
  readonly sessions: number;
  readonly messages: number;
  /** How often the server is killed: each time after as many further tool runs have started. */
  readonly kills: number;
}

const TOOLS_A_TURN = 3;

/** Observations of a run. */
export interface KillReport {
  readonly kills: number;
  readonly toolRuns: number;
  /** Runs that a kill interrupted and that were restarted, as allowed. */
  readonly runsAgain: number;
  /** Results that were in the log when the server was killed. */
  readonly finishedBeforeKills: number;
  readonly events: number;
}

/**
 * Kills a server (`kill -9`) several times while it works on many sessions, and restarts it on the same port and store.
 * Readers that resume by `Last-Event-ID` must see every event once and in order, and no finished tool may run again.
 */
export async function killServer({ sessions, messages, kills }: KillPlan): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-kill-'));
  const effectsFile = join(folder, 'effects.jsonl');
  const many = ['--creates-per-minute', '100000', '--requests-per-minute', '1000000'];
  const args = ['--agents', join(import.meta.dirname, 'killable-agents.ts'), ...many];
  const start = async (port: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [...args, '--port', port],
      env: { SIDE_EFFECTS: effectsFile },
    });
  let server = await start(String(await freePort()));
  try {
    const { url, port } = server;
    const client = createClient({ baseUrl: url, retries: 100 });
    const [agent = ''] = server.agents;
    const ids = await Promise.all(
      Array.from({ length: sessions }, async () => (await client.sessions.create({ agent })).id),
    );
    const done = new AbortController();
    const readers = ids.map(async (id) => readAll(client, id, messages, done.signal));
    const senders = ids.map(async (id, index) => {
      for (let n = 0; n < messages; n++) await client.sessions.send(id, `work s${index}m${n}`);
    });
    const runsBefore = new Map<string, number>();
    const tools = sessions * messages * TOOLS_A_TURN;
    for (let kill = 1; kill <= kills; kill++) {
      await untilBegun(effectsFile, Math.floor((tools * kill) / (kills + 1)));
      await server.end('SIGKILL');
      // A run that is finished now must not run again.
      for (const key of await listFinishedCalls(`sqlite:${join(folder, 'petrichor.db')}`))
        runsBefore.set(key, countRuns(effectsFile, key));
      server = await start(port);
    }
    await Promise.all(senders);
    const seen = await Promise.all(readers);
    done.abort();
    await checkReaders({ client, ids, seen, messages });
    const { effects, runsAgain } = checkEffects(effectsFile, runsBefore);
    return {
      kills,
      toolRuns: effects,
      runsAgain,
      finishedBeforeKills: runsBefore.size,
      events: seen.reduce((sum, events) => sum + events.length, 0),
    };
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}
