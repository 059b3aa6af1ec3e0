import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../src/client/index.ts';
import { randomFrom } from '../../crash/random-kills.ts';
import { readSideEffects } from '../../crash/side-effects.ts';
import { ServeProcess } from '../serve-process.ts';
import { QuickClient } from './quick-client.ts';

/** What happened while servers were killed. */
export interface LiveKills {
  /** Where the conversation was when its server was killed. */
  readonly killedIn: Readonly<Record<string, number>>;
  readonly turns: number;
  /** Calls of the tool that may not run twice. */
  readonly toolRuns: number;
  /** Milliseconds from the start of a reconnection until the call was ready, worst. */
  readonly readyMs: number;
  /** Milliseconds from the start of a reconnection until the model was heard, if it was, worst. */
  readonly silenceMs: number;
  /** What must not happen. */
  readonly faults: readonly string[];
}

interface LogLine {
  readonly seq: number;
  readonly text: string;
}

/** The longest part of a conversation between two kills. */
const MAX_PART_MS = 500;

/**
 * Has a conversation over a WebSocket with a server that is killed again and again, at random times: while the user
 * speaks, while the model does, and while a tool runs.
 */
export async function killLiveAtRandom(kills: number, seed: number): Promise<LiveKills> {
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-live-kills-'));
  const effects = join(folder, 'effects.jsonl');
  const faults: string[] = [];
  const killedIn: Record<string, number> = {};
  const start = async (port: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [join(import.meta.dirname, 'random-live-agent.ts'), '--live', '--port', port],
      env: { SIDE_EFFECTS: effects },
    });
  let server = await start('0');
  const { port, url, agents } = server;
  try {
    const http = createClient({ baseUrl: url, retries: 100 });
    const { id } = await http.sessions.create({ agent: agents[0] ?? '' });
    const client = new QuickClient(`${url}/v1/sessions/${id}/live`);
    const readLog = async (): Promise<readonly LogLine[]> => {
      const lines: LogLine[] = [];
      for await (const { id: _, ...event } of http.sessions.listEvents(id, { limit: 1000 }))
        lines.push({ seq: event.seq, text: JSON.stringify(event) });
      return lines;
    };
    let before: readonly LogLine[] = [];
    /** Checks that what was in the log is in it, in order and without a gap. */
    const checkLog = async (): Promise<readonly LogLine[]> => {
      const log = await readLog();
      for (const [index, line] of before.entries())
        if (log[index]?.text !== line.text)
          faults.push(`the log lost ${line.text}, it has ${log[index]?.text ?? 'nothing'}`);
      let last = 0;
      for (const { seq } of log) {
        if (seq !== last && seq !== last + 1) faults.push(`the log has ${seq} after ${last}`);
        last = seq;
      }
      for (const { text } of log.slice(before.length))
        if (text.includes('live_connection_lost')) throw new Error(`the call was lost: ${text}`);
      return (before = log);
    };
    const countTurns = (log: readonly LogLine[], type: string): number =>
      log.filter(({ text }) => text.includes(`"type":"${type}"`)).length;
    const speak = async (): Promise<void> => {
      for (let at = 0; at < 200; at += 20) {
        client.speak(20, 4_000);
        await sleep(random() * 2);
      }
      client.speak(200, 0);
    };

    const isIdle = async (): Promise<boolean> => (await http.sessions.get(id)).status === 'idle';
    let readyMs = 0;
    let silenceMs = 0;
    await client.connect();
    for (let kill = 0; kill < kills; kill++) {
      let doing = 'waiting';
      const ending = new AbortController();
      const part = (async () => {
        while (!ending.signal.aborted) {
          doing = 'speaking';
          await speak();
          doing = 'waiting';
          await sleep(random() * 300);
        }
      })();
      const began = readSideEffects(effects).length;
      client.playedAt = undefined;
      // The random time is the point of this test, so it does not wait for an event.
      await sleep(random() * MAX_PART_MS);
      const isInTool = readSideEffects(effects).length > began;
      const state = isInTool ? 'tool' : client.playedAt === undefined ? doing : 'reply';
      killedIn[state] = (killedIn[state] ?? 0) + 1;
      await server.end('SIGKILL');
      client.close();
      ending.abort();
      await part;
      server = await start(port);
      const from = performance.now();
      await client.connect();
      readyMs = Math.max(readyMs, performance.now() - from);
      await checkLog();
      if (random() < 0.5) continue;
      // Every other time, until the model is heard.
      await speak();
      while (client.playedAt === undefined && !(await isIdle())) await sleep(5);
      silenceMs = Math.max(silenceMs, (client.playedAt ?? from) - from);
    }
    const isOver = async (turns: number): Promise<boolean> =>
      countTurns(await readLog(), 'session.status_running') > turns && (await isIdle());
    const turns = countTurns(await checkLog(), 'session.status_running');
    await speak();
    while (!(await isOver(turns))) await sleep(20);
    const log = await checkLog();
    client.close();

    faults.push(...client.twice.map((one) => `played twice: ${one}`));
    const runs = new Map<string, number>();
    for (const { callId } of readSideEffects(effects))
      runs.set(callId, (runs.get(callId) ?? 0) + 1);
    for (const [call, count] of runs)
      if (count > 1) faults.push(`the tool of ${call} ran ${count} times`);
    return {
      killedIn,
      turns: countTurns(log, 'session.status_running'),
      toolRuns: runs.size,
      readyMs: Math.round(readyMs),
      silenceMs: Math.round(silenceMs),
      faults,
    };
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}
