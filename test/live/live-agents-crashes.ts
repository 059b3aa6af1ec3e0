import assert from 'node:assert/strict';
import { conversation } from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { App, FunctionTool, LlmAgent, Runner } from '../../src/adk/index.ts';
import { StoreSessionService } from '../../src/adk/sessions/store-session-service.ts';
import { ScriptedLive } from '../../src/live/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { listIn, SimulatedClock } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { LiveSession } from '../adk/live-session.ts';
import { activeLiveSessions } from '../../src/adk/live/active-live-sessions.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { crashAtEach } from './crash-at-each.ts';
import { describeEvent } from './simulated-call.ts';

/** The result of a live session of a runner that crashes. */
export interface AgentsOutcome {
  readonly log: readonly string[];
  readonly conversation: readonly string[];
  /** The number of tokens by place. A crash costs connections, so the budget is left out. */
  readonly marking: Readonly<Record<string, number>>;
  /** The ids of the messages that the session has accepted. */
  readonly messages: readonly string[];
  /** How often the tool began. */
  readonly began: number;
  /** How many processes crashed. */
  readonly deaths: number;
}

const KEY = { appName: 'demo', userId: 'u', sessionId: 's' };
const LIMIT_MS = 120_000;
const repeat = <T>(turn: T): readonly T[] => Array.from({ length: 8 }, () => turn);

/** A conversation that goes on in the next process after a crash, until it is complete. */
export interface Scenario {
  readonly agent: (clock: SimulatedClock, process: SimulatedProcess, began: () => void) => LlmAgent;
  /** Says the next thing, or waits. Returns false when nothing is left to say. */
  readonly next: (live: LiveSession<Runner>, log: readonly string[]) => Promise<boolean>;
  /** What no crash may change, beside that the session is at rest. */
  readonly check: (outcome: AgentsOutcome) => void;
}

/** The user speaks with an agent that notes something and hands over to another one, which says good-bye. */
export const transferScenario: Scenario = {
  agent: (clock, process, began) => {
    const note = new FunctionTool({
      name: 'note',
      description: 'Notes, and hands over.',
      onCrash: 'unknown',
      execute: async (_, { actions }) => {
        await process.pass('tool-began');
        began();
        actions.transferToAgent('billing');
        await process.pass('tool-did');
        return 'noted';
      },
    });
    const calls = repeat({ heard: 'My bill is wrong.', toolCalls: [{ id: 'c1', name: 'note' }] });
    const replies = repeat({ heard: 'Thanks.', text: 'You are welcome.' });
    return new LlmAgent({
      name: 'greeter',
      model: new ScriptedModel(() => ({ text: 'As text.' })),
      // After a crash the tool may not have handed over: then this agent goes on.
      liveModel: new ScriptedLive({ turns: [...calls.slice(0, 1), ...replies] }, { clock }),
      tools: [note],
      subAgents: [
        new LlmAgent({
          name: 'billing',
          description: 'Bills.',
          model: new ScriptedModel(() => ({ text: 'As text.' })),
          liveModel: new ScriptedLive({ turns: replies }, { clock }),
        }),
      ],
    });
  },
  next: async (live, log) => {
    if (count(log, 'turn.started') >= 2) return false;
    await live.say();
    return true;
  },
  check: ({ began, conversation }) => {
    assert.ok(began <= 1, 'a tool that must not run twice ran twice');
    for (const line of ['user: My bill is wrong.', 'user: Thanks.'])
      assert.ok(conversation.includes(line), `${line} is missing`);
    assert.equal(conversation.at(-1), 'model: You are welcome.');
    const call = conversation.indexOf('model: note?');
    assert.match(conversation[call + 1] ?? '', /^tool: /);
  },
};

/** The user writes to an agent that watches something and tells about it. */
export const streamScenario: Scenario = {
  agent: (clock, process, began) => {
    const watch = new FunctionTool({
      name: 'watch',
      description: 'Watches.',
      idempotent: true,
      execute: async function* () {
        began();
        yield { price: 1 };
        await process.pass('tool-began');
        yield { price: 2 };
      },
    });
    const turns = [{ toolCalls: [{ id: 'c1', name: 'watch' }] }, ...repeat({ text: 'I see.' })];
    return new LlmAgent({
      name: 'assistant',
      model: new ScriptedModel(() => ({ text: 'As text.' })),
      liveModel: new ScriptedLive({ turns }, { clock }),
      tools: [watch],
    });
  },
  next: async (live, log) => {
    if (log.some((line) => line.startsWith('user: '))) return false;
    live.queue.sendContent({ role: 'user', parts: [{ text: 'Watch it.' }] });
    await live.pass(1_000);
    return true;
  },
  check: ({ conversation }) => {
    assert.equal(count(conversation, 'model: watch?'), 1);
    assert.equal(count(conversation, 'tool: '), 1);
    assert.ok(conversation.includes('user: Watch it.'));
  },
};

/**
 * Crashes at each of these points of a scenario in turn, and checks what no crash may change. Returns how many there were.
 * @param stride see `crashAtEach`
 */
export async function crashEverywhere(
  scenario: Scenario,
  calm: AgentsOutcome,
  points: readonly CrashPoint['point'][],
  stride = 1,
): Promise<number> {
  return crashAtEach(points, stride, async (crash) => {
    const outcome = await runWithCrashes(scenario, [crash]);
    if (outcome.deaths === 0) return false;
    const { log, marking, messages, conversation } = outcome;
    try {
      assert.deepEqual(marking, calm.marking);
      assert.equal(count(log, 'turn.started'), count(log, 'ended'));
      assert.equal(new Set(messages).size, messages.length, 'a message was taken twice');
      scenario.check(outcome);
    } catch (error) {
      throw new Error(`${log.join(', ')} | ${conversation.join(', ')}`, { cause: error });
    }
    return true;
  });
}

/** Plays a scenario in a sequence of processes, each of which crashes at its point. */
export async function runWithCrashes(
  { agent, next }: Pick<Scenario, 'agent' | 'next'>,
  crashes: readonly CrashPoint[],
): Promise<AgentsOutcome> {
  const store = new MemoryStore();
  const processes: SimulatedProcess[] = [];
  const stop = new AbortController();
  const runners: Runner[] = [];
  let lived: Runner | undefined;
  let began = 0;
  let deaths = 0;
  let now = 0;
  for (const crashPoint of [...crashes, undefined]) {
    const process = new SimulatedProcess(crashPoint);
    processes.push(process);
    const clock = new SimulatedClock(now);
    const killable = new KillableStore(store, process);
    const runner = new Runner({
      app: new App({ name: 'demo', rootAgent: agent(clock, process, () => began++) }),
      sessionService: new StoreSessionService(async () => killable, clock),
      autoCreateSession: true,
      clock,
    });
    runners.push(runner);
    const living = talk(runner, clock, { now, abortSignal: stop.signal }, next).then(() => {
      lived = runner;
      process.disarm();
      return 'lived' as const;
    });
    living.catch(() => {});
    const end = await Promise.race([living, process.over.then(() => 'crashed' as const)]);
    now = clock.now() + 1_000;
    if (end === 'lived') break;
    deaths++;
    for (const { owner, uid } of await store.list({})) {
      if (owner !== null) await store.leave(owner);
      // A list of the process, which dies with it.
      activeLiveSessions.remove(uid);
    }
  }
  const marking = await hydrate(store, KEY);
  const log: string[] = [];
  const messages: string[] = [];
  for await (const event of store.read(KEY)) {
    log.push(describeEvent(event));
    if (event.type === 'user.message') messages.push(event.messageId);
  }
  await lived?.close();
  for (const process of processes) process.discard();
  // What is left of crashed processes stops, so that the test can end.
  stop.abort();
  await Promise.allSettled(runners.map(async (runner) => runner.close()));
  return {
    log,
    conversation: listIn(marking, conversation.name).items.map((item) =>
      describeItem(item as unknown as ConversationItem),
    ),
    marking: Object.fromEntries(
      [...marking.tokens]
        .filter(([place]) => place !== 'link.budget')
        .map(([place, tokens]) => [place, tokens.length]),
    ),
    messages,
    began,
    deaths,
  };
}

/** Speaks until the scenario is over, and hangs up. */
async function talk(
  runner: Runner,
  clock: SimulatedClock,
  { now, abortSignal }: { readonly now: number; readonly abortSignal: AbortSignal },
  next: Scenario['next'],
): Promise<void> {
  const live = new LiveSession(runner, clock, { abortSignal });
  const { sessionService } = runner;
  const store = await sessionService.store();
  for (;;) {
    const log: string[] = [];
    if ((await store.find(KEY)) !== undefined)
      for await (const event of store.read(KEY)) log.push(describeEvent(event));
    if (count(log, 'turn.started') > count(log, 'ended')) await live.pass(100);
    else if (!(await next(live, log))) break;
    if (clock.now() - now > LIMIT_MS) throw new Error(log.join(', '));
  }
  await live.pass(200);
  await live.close();
  await live.pass(100);
}

function count(log: readonly string[], start: string): number {
  return log.filter((line) => line.startsWith(start)).length;
}

function describeItem({ content }: ConversationItem): string {
  const parts = content.parts.map((part) => {
    if ('text' in part) return part.text;
    if ('functionCall' in part) return `${part.functionCall.name}?`;
    return 'functionResponse' in part ? JSON.stringify(part.functionResponse.response) : '';
  });
  return `${content.role}: ${parts.join(' ')}`;
}
