import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/client/index.ts';
import type { Client, SessionEvent } from '../../src/client/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import type { Json } from '../../src/core/index.ts';
import { openStore } from '../../src/store/index.ts';
import { readSideEffects } from '../crash/side-effects.ts';
import { freePort } from '../free-port.ts';
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
      for (const key of await finishedIn(folder)) runsBefore.set(key, countRuns(effectsFile, key));
      server = await start(port);
    }
    await Promise.all(senders);
    const seen = await Promise.all(readers);
    done.abort();
    for (const [index, id] of ids.entries()) {
      const storedEvents: SessionEvent[] = [];
      for await (const event of client.sessions.listEvents(id, { limit: 1000 }))
        storedEvents.push(event);
      assert.deepEqual(
        seen[index]?.map((event) => event.id),
        storedEvents.map((event) => event.id),
      );
      assert.equal(
        new Set(storedEvents.map((event) => event.id)).size,
        storedEvents.length,
        'no event twice',
      );
      const blocks = storedEvents.flatMap((event) =>
        event.type === 'user.message' ? event.content : [],
      );
      assert.deepEqual(
        blocks.map((block) => (block.type === 'text' ? block.text : '')),
        Array.from({ length: messages }, (_, n) => `work s${index}m${n}`),
      );
    }
    for (const [key, runs] of runsBefore)
      assert.equal(countRuns(effectsFile, key), runs, `${key} had finished and ran again`);
    const effects = readSideEffects(effectsFile).filter(({ what }) => what === 'began');
    const noteCallIds = effects.filter(({ tool }) => tool === 'note').map(({ callId }) => callId);
    assert.equal(new Set(noteCallIds).size, noteCallIds.length, 'what may not run twice ran once');
    const keys = new Set(effects.map(({ tool, callId }) => `${tool} ${callId}`));
    return {
      kills,
      toolRuns: effects.length,
      runsAgain: effects.length - keys.size,
      finishedBeforeKills: runsBefore.size,
      events: seen.reduce((sum, events) => sum + events.length, 0),
    };
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads a session from its first event until its last message is answered. */
async function readAll(
  client: Client,
  id: string,
  messages: number,
  signal: AbortSignal,
): Promise<readonly SessionEvent[]> {
  const seen: SessionEvent[] = [];
  let ended = 0;
  for await (const event of client.sessions.events(id, { signal, reconnects: 1000 })) {
    if (!('seq' in event)) continue;
    seen.push(event);
    if (event.type === 'session.status_idle' && ++ended === messages) break;
  }
  return seen;
}

/** Calls that have a result in the logs of a store that no server has open. */
async function finishedIn(folder: string): Promise<readonly string[]> {
  const store = await openStore(`sqlite:${join(folder, 'petrichor.db')}`);
  const finished: string[] = [];
  for (const { key } of await store.list({})) {
    const texts = new Map<string, string>();
    for await (const event of store.read(key)) {
      if (event.type === 'tool.call') texts.set(event.callId, toCallKey(event.name, event.args));
      if (event.type === 'tool.result') finished.push(texts.get(event.callId) ?? '');
    }
  }
  await store.close();
  return finished;
}

function toCallKey(name: string, args: Json): string {
  return `${name} ${isJsonObject(args) ? String(args['text']) : ''}`;
}

async function untilBegun(file: string, count: number): Promise<void> {
  while (readSideEffects(file).filter(({ what }) => what === 'began').length < count)
    await sleep(5);
}

function countRuns(file: string, key: string): number {
  return readSideEffects(file).filter(
    ({ what, tool, callId }) => what === 'began' && `${tool} ${callId}` === key,
  ).length;
}
