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

/** Kills one process after the other, each at a moment of chance, while three sessions are at work in it. */
export async function killAtRandom(kills: number, seed: number): Promise<RandomKills> {
  using lineage = new HostSequence();
  const random = randomFrom(seed);
  const sessions = ['a', 'b', 'c'];
  for (let n = 0; n < kills; n++) {
    const child = new ChildHost(lineage.next());
    await child.awake;
    void work(child, lineage, sessions, 8).catch(() => {});
    // The moment is what is tried here: nothing waits for it.
    await after(random() * 400);
    await child.kill();
    await lineage.ended(child);
  }
  const last = await ChildHost.start(lineage.next());
  await work(last, lineage, sessions, 1);
  await last.close();
  const { endedMidTurn: killedMidTurn } = lineage;
  await lineage.ended(last);
  const stored = [...lineage.sessions.values()];
  const count = (found: (event: (typeof stored)[number]['events'][number]) => boolean): number =>
    stored.reduce((sum, { events }) => sum + events.filter(found).length, 0);
  return {
    kills,
    killedMidTurn,
    turns: count(({ type }) => type === 'turn.ended'),
    attempts: count(({ type }) => type === 'tool.attempt' || type === 'model.attempt'),
    unknown: count((event) => event.type === 'tool.result' && event.outcome === 'unknown'),
    snapshots: stored.filter(({ hasSnapshot }) => hasSnapshot).length,
    faults: lineage.faults,
  };
}

/** Each session goes on from its last accepted message, which is sent once more. */
async function work(
  child: ChildHost,
  lineage: HostSequence,
  sessions: readonly string[],
  messages: number,
): Promise<void> {
  await Promise.all(
    sessions.map(async (session) => {
      const from = Math.max(1, lineage.countAccepted(session));
      await child.command({ do: 'work', session, from, to: from + messages });
    }),
  );
}

/** Mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
