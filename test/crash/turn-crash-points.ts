import { agent, conversation, state } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { addUsage, getFunctionCalls, getFunctionResponses, noUsage } from '../../src/core/index.ts';
import type { Content, LogEntry, LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { listIn, mapIn } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import type { Store, UsageTotal } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { ToolCrashPolicy, Tool } from '../../src/tools/index.ts';
import { SimulatedProcess, KillableStore } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

/** The data of a store that outlives simulated processes. */
export interface StoreHost {
  /** Opens the store, as another process would. */
  readonly open: () => Promise<Store>;
  /** Removes the owner of the crashed process that opened this store. */
  readonly dropOwner: (store: Store) => Promise<void>;
}

export interface TurnCrashOptions {
  /** The `onCrash` policy of the tool `pay`. */
  readonly pay: ToolCrashPolicy;
  /** Number of turns without crashes to run first. Default: 0. */
  readonly turnsBefore?: number;
}

/** The state of the session after the turns. */
export interface TurnOutcome {
  /** Without numbers, times and attempts. Results of concurrent tools are sorted. */
  readonly log: readonly LogEntry[];
  readonly conversation: readonly unknown[];
  readonly state: object;
  readonly shared: object;
  /** Number of tokens by place; and the number of firings in flight and unread inputs. */
  readonly marking: Readonly<Record<string, number>>;
  /** How often each call was started and finished. */
  readonly effects: Readonly<Record<string, readonly [began: number, did: number]>>;
  /** The usage that the store counted. */
  readonly usage: readonly UsageTotal[];
  /** Number of crash points that were reached. */
  readonly deaths: number;
  /** The step of the newest snapshot. */
  readonly snapshotAt: number | undefined;
}

/** Runs two turns in a sequence of simulated processes, each with one of the crash points. */
export async function runWithCrashes(
  world: StoreHost,
  crashes: readonly CrashPoint[],
  options: TurnCrashOptions,
): Promise<TurnOutcome> {
  const effects: Record<string, [number, number]> = {};
  const stores: Store[] = [];
  const processes: SimulatedProcess[] = [];
  let deaths = 0;
  const begin = async (
    crashPoint?: CrashPoint,
  ): Promise<{ readonly simulated: SimulatedProcess; readonly store: Store }> => {
    const simulated = new SimulatedProcess(crashPoint);
    const store = await world.open();
    processes.push(simulated);
    stores.push(store);
    return { simulated, store };
  };
  if ((options.turnsBefore ?? 0) > 0) {
    const { simulated, store } = await begin();
    await using runtime = await openRuntime({
      agents: [clerk(simulated, effects, options)],
      store,
    });
    const session = await runtime.session('x');
    for (let n = 0; n < (options.turnsBefore ?? 0); n++)
      for await (const _ of session.send('nothing', { messageId: `before-${n}` }));
  }
  for (const crashPoint of [...crashes, undefined]) {
    const { simulated, store } = await begin(crashPoint);
    const agents = [clerk(simulated, effects, options)];
    const opening = openRuntime({ agents, store: new KillableStore(store, simulated) });
    // A crashed process rejects when it is discarded.
    opening.catch(() => {});
    const living = opening.then(async (runtime) => {
      await runClient(await runtime.session('x'), simulated);
      await runtime.close();
      return 'lived' as const;
    });
    living.catch(() => {});
    if ((await Promise.race([living, simulated.over])) === 'lived') break;
    deaths++;
    await world.dropOwner(store);
  }
  const last = stores.at(-1);
  if (last === undefined) throw new Error('No process ran.');
  const outcome = await readOutcome(last, effects, deaths);
  for (const simulated of processes) simulated.discard();
  return outcome;
}

/** A client that can restart at any time: it sends its messages again, and answers pending calls one at a time. */
async function runClient(session: Session, simulated: SimulatedProcess): Promise<void> {
  const watching = new AbortController();
  void simulated.over.then(() => watching.abort());
  const turns = ['all of it', 'nothing'].map((text, n) =>
    session.send(text, {
      messageId: `m${n}`,
      stateDelta: { [`asked${n}`]: true, 'temp:asked': n },
    }),
  );
  for (const { accepted } of turns) await accepted;
  const done = async (): Promise<boolean> => {
    const { status, inboxPending } = await session.status();
    if (status === 'waiting') await answerOne(session);
    return status === 'idle' && !inboxPending;
  };
  const { lastSeq } = await session.status();
  if (await done()) return;
  for await (const event of session.events(lastSeq, { signal: watching.signal })) {
    if ((event.type === 'turn.waiting' || event.type === 'turn.ended') && (await done())) return;
  }
}

async function answerOne(session: Session): Promise<void> {
  const [call] = await session.pending();
  if (call === undefined) return;
  const turn =
    call.needs === 'approval' ? session.approve(call.id) : session.answer(call.id, 'Ada');
  await turn.accepted.catch((error: unknown) => {
    const { code } = Object(error);
    if (code !== 'already_answered' && code !== 'call_not_pending') throw error;
  });
}

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };

const everything = ['note', 'pay', 'ask', 'look'] as const;

function clerk(
  simulated: SimulatedProcess,
  effects: Record<string, [number, number]>,
  { pay }: TurnCrashOptions,
): Agent {
  const acting = (name: string, more: Partial<Parameters<typeof tool>[0]>): Tool =>
    tool({
      name,
      description: 'Acts.',
      ...more,
      execute: async (_, { callId, state }) => {
        const [began, did] = effects[callId] ?? [0, 0];
        effects[callId] = [began + 1, did];
        await simulated.pass('tool-began');
        if (name === 'note') {
          state.increment('notes');
          state.increment('user:notes');
          state.set('temp:noted', true);
        }
        effects[callId] = [effects[callId][0], effects[callId][1] + 1];
        await simulated.pass('tool-did');
        return { did: name };
      },
    });
  const tools = [
    acting('note', { idempotent: true }),
    acting('pay', { needsApproval: true, onCrash: pay }),
    tool({ name: 'ask', description: 'Asks a person.' }),
    acting('look', { readOnly: true }),
  ];
  const model = new ScriptedModel(({ contents }) => {
    checkHistory(contents);
    const last = JSON.stringify(contents.at(-1));
    return last.includes('all of it')
      ? { text: 'At once.', toolCalls: everything.map((name) => ({ name })), usage }
      : { text: `Done ${contents.length}.`, usage };
  });
  return agent({ name: 'clerk', model, tools });
}

function checkHistory(contents: readonly Content[]): void {
  for (const [index, content] of contents.entries()) {
    const calls = getFunctionCalls(content).map(({ id }) => id);
    const next = contents[index + 1];
    const answers = next === undefined ? [] : getFunctionResponses(next).map(({ id }) => id);
    if (calls.join() !== answers.join()) throw new Error(`${calls.join()} have ${answers.join()}`);
  }
}

/** Sorts the results of concurrent tools, because their order is random. */
function sortConcurrent(events: readonly LogEvent[]): readonly LogEntry[] {
  const entries: LogEntry[] = [];
  let together: LogEntry[] = [];
  for (const { seq: _seq, at: _at, ...entry } of events) {
    if (entry.type === 'tool.result' || entry.type === 'state.changed') {
      together.push(entry);
      continue;
    }
    entries.push(...together.toSorted(byText), entry);
    together = [];
  }
  return [...entries, ...together.toSorted(byText)];
}

function byText(a: LogEntry, b: LogEntry): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

async function readOutcome(
  store: Store,
  effects: TurnOutcome['effects'],
  deaths: number,
): Promise<TurnOutcome> {
  const key = { appName: 'petrichor', userId: 'default', sessionId: 'x' };
  const events: LogEvent[] = [];
  for await (const event of store.read(key)) events.push(event);
  const numbered = events.every(({ seq }, index) => seq === index + 1);
  if (!numbered) throw new Error('The log has a gap.');
  const answers = events.filter((event) => event.type === 'agent.message');
  const used = await store.usage({ appName: key.appName, by: [] });
  const calls = used[0]?.calls ?? 0;
  const tokens = answers.reduce((sum, one) => addUsage(sum, one.usage ?? noUsage), noUsage);
  if (calls !== answers.length || used[0]?.tokens.totalTokens !== tokens.totalTokens)
    throw new Error(`The log has ${answers.length} answers; usage counts ${calls}.`);
  const waiting = await store.pendingCalls({ appName: key.appName, limit: 10 });
  if (waiting.length > 0) throw new Error('A call of a session at rest is listed as pending.');
  const marking = await hydrate(store, key);
  const { entries } = await store.shared(key);
  const { epoch: _, ...row } = (await store.find(key)) ?? { epoch: 0 };
  return {
    log: sortConcurrent(
      events.filter(({ type }) => type !== 'tool.attempt' && type !== 'model.attempt'),
    ),
    conversation: listIn(marking, conversation.name).items,
    state: mapIn(marking, state.name),
    shared: entries,
    marking: {
      ...Object.fromEntries([...marking.tokens].map(([place, { length }]) => [place, length])),
      'in flight': marking.firings.size,
      unread: 'inboxPending' in row && row.inboxPending ? 1 : 0,
    },
    effects: { ...effects },
    usage: used,
    deaths,
    snapshotAt: (await store.snapshot(key))?.step,
  };
}
