/** What readers and tools show of a run with `killable-agents.ts` whose servers are killed. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, SessionEvent } from '../../src/client/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import type { Json } from '../../src/core/index.ts';
import { openStore } from '../../src/store/index.ts';
import { readSideEffects } from '../crash/side-effects.ts';

/** Reads a session from its first event until its last message is answered. */
export async function readAll(
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

/** Checks that each reader saw every stored event once and in order, and that no message was lost or doubled. */
export async function checkReaders({
  client,
  ids,
  seen,
  messages,
}: {
  readonly client: Client;
  readonly ids: readonly string[];
  /** By session, in the order of `ids`. */
  readonly seen: readonly (readonly SessionEvent[])[];
  readonly messages: number;
}): Promise<void> {
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
}

/**
 * Checks that no finished call ran again, and that what may not run twice ran once.
 * @param runsBefore how often a finished call had run, by call
 */
export function checkEffects(
  effectsFile: string,
  runsBefore: ReadonlyMap<string, number>,
): { readonly effects: number; readonly runsAgain: number } {
  for (const [key, runs] of runsBefore)
    assert.equal(countRuns(effectsFile, key), runs, `${key} had finished and ran again`);
  const effects = readSideEffects(effectsFile).filter(({ what }) => what === 'began');
  const noteCallIds = effects.filter(({ tool }) => tool === 'note').map(({ callId }) => callId);
  assert.equal(new Set(noteCallIds).size, noteCallIds.length, 'what may not run twice ran once');
  const keys = new Set(effects.map(({ tool, callId }) => `${tool} ${callId}`));
  return { effects: effects.length, runsAgain: effects.length - keys.size };
}

/** Lists the calls that have a result in the logs of a store. */
export async function listFinishedCalls(url: string): Promise<readonly string[]> {
  const store = await openStore(url);
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

export async function untilBegun(file: string, count: number): Promise<void> {
  while (readSideEffects(file).filter(({ what }) => what === 'began').length < count)
    await sleep(5);
}

export function countRuns(file: string, key: string): number {
  return readSideEffects(file).filter(
    ({ what, tool, callId }) => what === 'began' && `${tool} ${callId}` === key,
  ).length;
}
