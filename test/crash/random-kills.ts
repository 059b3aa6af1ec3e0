import { setTimeout as after } from 'node:timers/promises';
import { ChildHost } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

export interface RandomKills {
  readonly kills: number;
  readonly killedMidTurn: number;
  readonly turns: number;
  readonly attempts: number;
  readonly unknown: number;
  readonly snapshots: number;
  readonly faults: readonly string[];
}

/** Kills one process after the other at random times, while three sessions run in it. */
export async function killAtRandom(kills: number, seed: number): Promise<RandomKills> {
  using hosts = new HostSequence();
  const random = randomFrom(seed);
  const sessions = ['a', 'b', 'c'];
  for (let n = 0; n < kills; n++) {
    const child = new ChildHost(hosts.next());
    await child.awake;
    void work(child, hosts, sessions, 8).catch(() => {});
    // The random time is the point of this test, so it does not wait for an event.
    await after(random() * 400);
    await child.kill();
    await hosts.ended(child);
  }
  const last = await ChildHost.start(hosts.next());
  await work(last, hosts, sessions, 1);
  await last.close();
  const { endedMidTurn: killedMidTurn } = hosts;
  await hosts.ended(last);
  const stored = [...hosts.sessions.values()];
  const count = (found: (event: (typeof stored)[number]['events'][number]) => boolean): number =>
    stored.reduce((sum, { events }) => sum + events.filter(found).length, 0);
  return {
    kills,
    killedMidTurn,
    turns: count(({ type }) => type === 'turn.ended'),
    attempts: count(({ type }) => type === 'tool.attempt' || type === 'model.attempt'),
    unknown: count((event) => event.type === 'tool.result' && event.outcome === 'unknown'),
    snapshots: stored.filter(({ hasSnapshot }) => hasSnapshot).length,
    faults: hosts.faults,
  };
}

/** Continues each session from its last accepted message, which is sent once more. */
async function work(
  child: ChildHost,
  hosts: HostSequence,
  sessions: readonly string[],
  messages: number,
): Promise<void> {
  await Promise.all(
    sessions.map(async (session) => {
      const from = Math.max(1, hosts.countAccepted(session));
      await child.command({ do: 'work', session, from, to: from + messages });
    }),
  );
}

/** Mulberry32: a generator with a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
