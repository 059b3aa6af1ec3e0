/** Measurements of sessions in memory. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Peer, PeerAgent } from '../peer.ts';
import { CHAPTER, QUESTION, twoCalls } from '../script.ts';
import { median } from '../../statistics.ts';

interface Options {
  readonly quick: boolean;
}

export interface Rate {
  readonly turnsPerSecond: number;
  readonly cpuMs: number;
}

const open = async (peer: Peer, file?: string): Promise<PeerAgent> =>
  peer.open({ script: twoCalls, readFile: () => CHAPTER, file });

/** Turns of new sessions, one after the other. */
export async function measureRate(peer: Peer, { quick }: Options, file?: string): Promise<Rate> {
  const agent = await open(peer, file);
  let sessions = 0;
  const run = async (ms: number): Promise<number> => {
    const startedAt = performance.now();
    let turns = 0;
    do {
      await ask(agent, `session-${sessions++}`);
      turns++;
    } while (performance.now() - startedAt < ms);
    return turns;
  };
  await run(quick ? 0 : 800);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const turns = await run(quick ? 0 : 1500);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startedAt) / 1000;
  await agent.close();
  return { turnsPerSecond: turns / seconds, cpuMs: (user + system) / 1000 / turns };
}

async function ask(agent: PeerAgent, session: string): Promise<void> {
  const text = await agent.ask(session, QUESTION);
  if (text === '') throw new Error('A turn ended without an answer.');
}

/** CPU of the turns 1 to 20 and 181 to 200 of one session. */
export async function measureGrowth(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly earlyCpuMs: number; readonly lateCpuMs: number }> {
  const agent = await open(peer);
  const turns = quick ? 4 : 200;
  const window = quick ? 1 : 20;
  const early: number[] = [];
  const late: number[] = [];
  const runWindow = async (session: string, count: number): Promise<number> => {
    const cpu = process.cpuUsage();
    for (let n = 0; n < count; n++) await ask(agent, session);
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1000 / count;
  };
  const warmUntil = performance.now() + (quick ? 0 : 1000);
  for (let n = 0; n === 0 || performance.now() < warmUntil; n++) await ask(agent, `warm-${n % 30}`);
  const startedAt = performance.now();
  do {
    const session = `long-${early.length}`;
    early.push(await runWindow(session, window));
    await runWindow(session, turns - 2 * window);
    late.push(await runWindow(session, window));
  } while (performance.now() - startedAt < (quick ? 0 : 1500));
  await agent.close();
  return { earlyCpuMs: median(early), lateCpuMs: median(late) };
}

/** Pieces of text a second, from a model that waits for nothing to a consumer that iterates the turn. */
export async function measureDeltas(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly deltasPerSecond: number }> {
  const pieces = quick ? 100 : 5000;
  const answer = { text: Array.from({ length: pieces }, () => ' word') };
  const agent = await peer.open({
    script: { afterMessage: answer, afterResults: answer },
    readFile: () => CHAPTER,
  });
  const rates: number[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    let seen = 0;
    const startedAt = performance.now();
    await agent.ask(`session-${round}`, QUESTION, { onText: () => void seen++ });
    const seconds = (performance.now() - startedAt) / 1000;
    if (seen !== pieces) throw new Error(`${seen} of ${pieces} pieces arrived.`);
    rates.push(pieces / seconds);
  }
  await agent.close();
  return { deltasPerSecond: median(rates) };
}

/** A turn whose two tools take 100 ms each. */
export async function measureTools(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly toolsMs: number }> {
  const readFile = async (): Promise<string> => delay(100, CHAPTER);
  const agent = await peer.open({ script: twoCalls, readFile });
  const times: number[] = [];
  for (let n = quick ? 0 : -2; n < (quick ? 1 : 5); n++) {
    const startedAt = performance.now();
    await ask(agent, `session-${n}`);
    if (n >= 0) times.push(performance.now() - startedAt);
  }
  await agent.close();
  return { toolsMs: median(times) };
}

/** Heap of a session after one turn, with its data. @throws Error without `--expose-gc` */
export async function measureHeap(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly heapKb: number }> {
  const agent = await open(peer);
  const count = quick ? 5 : 500;
  for (let n = 0; n < (quick ? 1 : 100); n++) await ask(agent, `warm-${n}`);
  const before = await heapBytes(quick);
  for (let n = 0; n < count; n++) await ask(agent, `session-${n}`);
  const after = await heapBytes(quick);
  await agent.close();
  return { heapKb: (after - before) / count / 1024 };
}

async function heapBytes(quick: boolean): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    await delay(100);
    await globalThis.gc({ type: 'major', execution: 'async', flavor: 'last-resort' });
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** From the abort of a turn to its end, while a tool runs that ignores it. */
export async function measureAbort(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly abortMs: number | 'none'; readonly nextTurn: 'answers' | 'fails' }> {
  let started = Promise.withResolvers<void>();
  let ignores = true;
  const agent = await peer.open({
    script: twoCalls,
    readFile: () => {
      started.resolve();
      return ignores ? new Promise(() => undefined) : CHAPTER;
    },
  });
  const times: number[] = [];
  let nextTurn: 'answers' | 'fails' = 'answers';
  for (let n = 0; n < (quick ? 1 : 3); n++) {
    started = Promise.withResolvers<void>();
    ignores = true;
    const controller = new AbortController();
    const { signal } = controller;
    const turn = agent.ask(`session-${n}`, QUESTION, { signal }).catch(() => undefined);
    await started.promise;
    const startedAt = performance.now();
    controller.abort();
    const ended = await Promise.race([turn.then(() => true), delay(LIMIT_MS, false)]);
    if (!ended) return { abortMs: 'none', nextTurn: 'fails' };
    times.push(performance.now() - startedAt);
    ignores = false;
    const next = agent.ask(`session-${n}`, QUESTION).catch(() => '');
    if ((await Promise.race([next, delay(LIMIT_MS, '')])) === '') nextTurn = 'fails';
  }
  return { abortMs: median(times), nextTurn };
}

/** A turn that has not ended by then does not end by the abort. */
const LIMIT_MS = 2000;
