import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { isFunctionResponsePart, isTextPart } from '../../src/core/index.ts';
import type { Content, Json, LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime, ManagedStatus } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { SettledStep } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { SimulatedProcess, KillableStore } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { historyFaults } from './history-faults.ts';
import { AT, deployTool, userMessage } from './managed-fixture.ts';

export const REASK_BUDGET = 3;
const MODEL_ATTEMPTS = 3;

/** Messages of the user; the model does what the message names. */
const MESSAGES = [
  'plain',
  'deploy',
  'pay',
  'both',
  'twice',
  'count',
  'slow',
  'again',
  'flaky',
  'down',
  'refused',
  'late',
] as const;

/** One action on a session, by one of its two processes. */
export type SessionAction = { readonly by: 0 | 1; readonly turns: number } & (
  | { readonly do: 'say'; readonly text: (typeof MESSAGES)[number] }
  | { readonly do: 'repeat' }
  | { readonly do: 'answer'; readonly which: number; readonly isError: boolean }
  | { readonly do: 'confirm'; readonly which: number; readonly allow: boolean }
  | { readonly do: 'move'; readonly to: 'pause' | 'resume' | 'complete' | 'archive' | 'interrupt' }
  | { readonly do: 'outcome'; readonly rounds: number; readonly starts: boolean }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'kill' }
  | { readonly do: 'close' }
  | { readonly do: 'crash'; readonly point: CrashPoint['point']; readonly nth: number }
);

export interface SessionPlan {
  readonly actions: readonly SessionAction[];
  /** The grader's verdicts in order; after the last, it is satisfied. */
  readonly verdicts: readonly ('needs_revision' | 'satisfied' | 'failed' | 'nonsense')[];
}

const byProcess = fc.constantFrom(0 as const, 1 as const);
const turns = fc.constantFrom(0, 0, 1, 3, 10, 40);
const weightedAction = (
  weight: number,
  fields: Record<string, fc.Arbitrary<unknown>>,
): Weighted => ({
  weight,
  arbitrary: fc.record({ by: byProcess, turns, ...fields }) as fc.Arbitrary<SessionAction>,
});
type Weighted = { readonly weight: number; readonly arbitrary: fc.Arbitrary<SessionAction> };

/** Arbitrary sequences of actions on a session. */
export const sessionPlans: fc.Arbitrary<SessionPlan> = fc.record({
  actions: fc.array(
    fc.oneof(
      weightedAction(9, { do: fc.constant('say'), text: fc.constantFrom(...MESSAGES) }),
      weightedAction(1, { do: fc.constant('repeat') }),
      weightedAction(5, { do: fc.constant('answer'), which: fc.nat(3), isError: fc.boolean() }),
      weightedAction(4, { do: fc.constant('confirm'), which: fc.nat(3), allow: fc.boolean() }),
      weightedAction(3, { do: fc.constant('move'), to: fc.constant('interrupt') }),
      weightedAction(2, { do: fc.constant('move'), to: fc.constantFrom('pause', 'resume') }),
      weightedAction(1, {
        do: fc.constant('move'),
        to: fc.constantFrom('resume', 'complete', 'archive'),
      }),
      weightedAction(2, {
        do: fc.constant('outcome'),
        rounds: fc.integer({ min: 1, max: 3 }),
        starts: fc.boolean(),
      }),
      weightedAction(4, {
        do: fc.constant('advance'),
        ms: fc.constantFrom(1, 500, 1000, 5000, 60_000, 300_000),
      }),
      weightedAction(1, { do: fc.constant('kill') }),
      weightedAction(1, { do: fc.constant('close') }),
      weightedAction(1, {
        do: fc.constant('crash'),
        point: fc.constantFrom('before-write', 'after-write', 'tool-began', 'tool-did'),
        nth: fc.integer({ min: 1, max: 4 }),
      }),
    ),
    { maxLength: 30, size: 'max' },
  ),
  verdicts: fc.array(
    fc.constantFrom('needs_revision', 'needs_revision', 'satisfied', 'failed', 'nonsense'),
    { maxLength: 6 },
  ),
});

/** A store that records every committed step. */
class RecordingStore extends MemoryStore {
  readonly committed: Pick<SettledStep, 'events' | 'summary'>[] = [];
  readonly owners: string[] = [];

  override async join(owner: string): Promise<void> {
    this.owners.push(owner);
    return super.join(owner);
  }

  override async commit(steps: readonly SettledStep[]): ReturnType<MemoryStore['commit']> {
    const results = await super.commit(steps);
    for (const [index, { events, summary }] of steps.entries())
      if (results[index]?.ok === true) this.committed.push({ events, summary });
    return results;
  }
}

/** All observable results of a run. */
export interface SessionResult {
  readonly log: readonly LogEvent[];
  readonly steps: readonly Pick<SettledStep, 'events' | 'summary'>[];
  readonly status: ManagedStatus;
  /** What each reader saw, per process. */
  readonly seen: readonly (readonly LogEvent[])[];
  /** Messages that were acknowledged. */
  readonly accepted: readonly string[];
  /** How often each call of `pay` started. */
  readonly paid: Readonly<Record<string, number>>;
  /** Faults detected during the run. */
  readonly faults: readonly string[];
}

/** The errors that a client may get. Any other error is a fault. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'illegal_transition',
  'already_answered',
  'call_not_pending',
  'invalid_input',
  'runtime_closed',
]);

/** Runs a plan and waits until everything is idle. */
export async function runSessionPlan(plan: SessionPlan): Promise<SessionResult> {
  const world = new SimulatedDeployment(plan);
  try {
    await world.begin();
    for (const action of plan.actions) await world.take(action);
    return await world.end();
  } finally {
    await world.discard();
  }
}

interface Host {
  readonly hostProcess: SimulatedProcess;
  readonly runtime: ManagedRuntime;
  readonly owner: string;
}

class SimulatedDeployment {
  readonly #store = new RecordingStore();
  readonly #clock = new SimulatedClock(AT);
  readonly #verdicts: string[];
  readonly #processes: SimulatedProcess[] = [];
  readonly #runtimes: ManagedRuntime[] = [];
  readonly #hosts: (Host | undefined)[] = [undefined, undefined];
  readonly #seen: LogEvent[][] = [];
  readonly #accepted: string[] = [];
  readonly #paid: Record<string, number> = {};
  readonly #faults: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #id = '';
  #messageCount = 0;
  #last: { readonly key: string; readonly text: string } | undefined;

  constructor({ verdicts }: SessionPlan) {
    this.#verdicts = [...verdicts];
  }

  async begin(): Promise<void> {
    const { runtime } = await this.#host(0);
    const agent = await runtime.create({
      name: 'random',
      model: 'gemini-2.5-flash',
      tools: [
        deployTool,
        { type: 'builtin', name: 'pay' },
        { type: 'builtin', name: 'count' },
        { type: 'builtin', name: 'slow' },
      ],
      permission_policy: { default: 'auto_approve', tools: { pay: 'prompt' } },
    });
    this.#id = (await runtime.startSession(agent.id, { userId: 'ada' })).id;
    const host = this.#hosts[0];
    if (host !== undefined) this.#watch(host);
  }

  async take(action: SessionAction): Promise<void> {
    if (action.do === 'advance') this.#clock.advance(action.ms);
    else {
      const host = await this.#host(action.by);
      const running = this.#do(action, host);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    }
    await this.#pass(action.turns);
  }

  /** Keeps one process, with its memory. It crashes no more and answers all calls. */
  async end(): Promise<SessionResult> {
    await this.#kill(1);
    this.#hosts[0]?.hostProcess.disarm();
    const { runtime } = await this.#host(0);
    for (let n = 0; this.#running.size > 0 || !(await this.#isIdle(runtime)); n++) {
      if (n > 200) {
        this.#faults.push(`it does not come to rest: ${await runtime.status(this.#id)}`);
        break;
      }
      if ((await runtime.status(this.#id)) === 'paused')
        void this.#move(runtime, 'resume').catch((error: unknown) =>
          this.#refused('the last resume', error),
        );
      for (const { callId, needs } of await runtime.pending(this.#id))
        if (needs === 'approval')
          await this.#send(runtime, confirmation(callId, false)).catch((error: unknown) =>
            this.#refused('the last denial', error),
          );
      await this.#pass(20);
      this.#clock.advance(n % 5 === 4 ? 300_000 : 1000);
      await this.#pass(20);
    }
    await this.#pass(40);
    if (this.#running.size > 0) this.#faults.push(`${this.#running.size} acts never end`);
    const [row] = await this.#store.list({});
    if (row === undefined) throw new Error('There is no session.');
    const log: LogEvent[] = [];
    for await (const event of this.#store.read(row.key, 0)) log.push(event);
    return {
      log,
      steps: this.#store.committed,
      status: await runtime.status(this.#id),
      seen: this.#seen,
      accepted: this.#accepted,
      paid: this.#paid,
      faults: this.#faults,
    };
  }

  /** Releases everything that still waits, so that the process can end. */
  async discard(): Promise<void> {
    for (const hostProcess of this.#processes) hostProcess.discard();
    for (const runtime of this.#runtimes) void runtime.close().catch(() => {});
    for (let n = 0; n < 5; n++) {
      await this.#pass(5);
      this.#clock.advance(60_000);
    }
  }

  async #isIdle(runtime: ManagedRuntime): Promise<boolean> {
    const [row] = await this.#store.list({});
    if (row === undefined || row.inboxPending || row.inFlight > 0 || row.pending.length > 0)
      return false;
    return !['running', 'rescheduling', 'paused'].includes(await runtime.status(this.#id));
  }

  async #do(action: Exclude<SessionAction, { readonly do: 'advance' }>, host: Host): Promise<void> {
    const { runtime, hostProcess } = host;
    const done = async (): Promise<void> => {
      switch (action.do) {
        case 'say':
          this.#last = { key: `m${++this.#messageCount}`, text: action.text };
          return this.#say(runtime, this.#last);
        case 'repeat':
          return this.#last === undefined ? undefined : this.#say(runtime, this.#last);
        case 'answer':
          return this.#send(runtime, {
            type: 'user.custom_tool_result',
            custom_tool_use_id: await this.#callId(action.which),
            content: 'done',
            is_error: action.isError,
          });
        case 'confirm':
          return this.#send(runtime, confirmation(await this.#callId(action.which), action.allow));
        case 'move':
          return this.#move(runtime, action.to);
        case 'outcome':
          return this.#send(runtime, {
            type: 'user.define_outcome',
            ...(action.starts ? { description: 'plain' } : { criteria: 'good' }),
            max_iterations: action.rounds,
            complete_when_satisfied: action.rounds === 3,
          });
        case 'kill':
          return this.#kill(action.by);
        case 'close':
          this.#hosts[action.by] = undefined;
          // The process may die while it leaves.
          void hostProcess.over.then(async () => this.#store.leave(host.owner));
          return runtime.close();
        case 'crash':
          return hostProcess.crashAt(action);
        default:
          return action satisfies never;
      }
    };
    await Promise.race([
      done().catch((error: unknown) => this.#refused(action.do, error)),
      hostProcess.over,
    ]);
  }

  async #say(runtime: ManagedRuntime, { key, text }: { key: string; text: string }): Promise<void> {
    await runtime.sendEvent(this.#id, userMessage(text), { dedupeKey: key });
    this.#accepted.push(key);
  }

  async #move(
    runtime: ManagedRuntime,
    to: 'pause' | 'resume' | 'complete' | 'archive' | 'interrupt',
  ): Promise<void> {
    await runtime[to](this.#id);
  }

  async #send(runtime: ManagedRuntime, event: Json): Promise<void> {
    await runtime.sendEvent(this.#id, event);
  }

  #refused(what: string, error: unknown): void {
    const { code } = Object(error);
    if (code === 'process_discarded' || REFUSALS.has(code)) return;
    this.#faults.push(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  /** Id of a waiting call, of one that waited before, or of one that never existed. */
  async #callId(which: number): Promise<string> {
    const [row] = await this.#store.list({});
    const calls = this.#store.committed
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.type === 'tool.call' ? [event.callId] : []));
    return row?.pending[which]?.callId ?? calls.at(-which) ?? 'call_none';
  }

  async #host(by: 0 | 1): Promise<Host> {
    const current = this.#hosts[by];
    if (current !== undefined && !current.hostProcess.isOver) return current;
    if (current !== undefined) await this.#kill(by);
    const hostProcess = new SimulatedProcess();
    this.#processes.push(hostProcess);
    const runtime = await openManagedRuntime({
      store: new KillableStore(this.#store, hostProcess),
      clock: this.#clock,
      resolver: async () => this.#model,
      grader: this.#grader,
      builtIns: async (name) => this.#tools(hostProcess).filter((one) => one.name === name),
      reaskBudget: REASK_BUDGET,
      modelAttempts: MODEL_ATTEMPTS,
      onError: (error, key) => {
        // A runtime that cannot close in time gives up.
        const { code } = Object(error);
        if (!hostProcess.isOver && code !== 'process_discarded' && code !== 'store_closed')
          this.#faults.push(`${key?.sessionId ?? 'runtime'}: ${String(error)}`);
      },
    });
    this.#runtimes.push(runtime);
    const host = { hostProcess, runtime, owner: this.#store.owners.at(-1) ?? '' };
    this.#hosts[by] = host;
    if (this.#id !== '') this.#watch(host);
    return host;
  }

  /** Kills a process in a way that its peers can detect. */
  async #kill(by: 0 | 1): Promise<void> {
    const host = this.#hosts[by];
    if (host === undefined) return;
    host.hostProcess.end();
    this.#hosts[by] = undefined;
    await this.#store.leave(host.owner);
  }

  #watch({ runtime, hostProcess }: Host): void {
    const seen: LogEvent[] = [];
    this.#seen.push(seen);
    const reading = async (): Promise<void> => {
      for await (const event of runtime.streamLog(this.#id, 0)) {
        if (hostProcess.isOver || !('at' in event)) continue;
        seen.push(event);
        const [row] = await this.#store.list({});
        if ((row?.lastSeq ?? 0) < event.seq) this.#faults.push(`${event.seq} was not durable`);
      }
    };
    reading().catch((error: unknown) => {
      if (!hostProcess.isOver && Object(error).code !== 'runtime_closed')
        this.#faults.push(`reading: ${String(error)}`);
    });
  }

  async #pass(turns: number): Promise<void> {
    for (let n = 0; n < turns; n++) await setImmediate();
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.at(this.#clock.now() + ms, () => resolve());
      signal?.addEventListener('abort', () => {
        cancel();
        reject(signal.reason);
      });
    });
  }

  get #model(): ScriptedModel {
    return new ScriptedModel(
      ({ contents }) => {
        this.#faults.push(...historyFaults(contents));
        return turnFor(contents);
      },
      { sleep: async (ms, signal) => this.#sleep(ms, signal) },
    );
  }

  get #grader(): ScriptedModel {
    return new ScriptedModel(() => {
      const result = this.#verdicts.shift() ?? 'satisfied';
      return { text: result === 'nonsense' ? 'Hm.' : JSON.stringify({ result, explanation: 'x' }) };
    });
  }

  #tools(hostProcess: SimulatedProcess): readonly Tool[] {
    const parameters = { type: 'object', properties: {} } as const;
    return [
      tool({
        name: 'pay',
        description: 'Pays.',
        parameters,
        execute: async (_, { callId }) => {
          this.#paid[callId] = (this.#paid[callId] ?? 0) + 1;
          await hostProcess.pass('tool-began');
          await hostProcess.pass('tool-did');
          return { paid: true };
        },
      }),
      tool({
        name: 'count',
        description: 'Counts.',
        parameters,
        idempotent: true,
        execute: async (_, { state }) => {
          await hostProcess.pass('tool-began');
          state.increment('count', 1);
          await hostProcess.pass('tool-did');
          return { counted: true };
        },
      }),
      tool({
        name: 'slow',
        description: 'Takes its time, and hears no abort.',
        parameters,
        readOnly: true,
        execute: async () => {
          await this.#sleep(2000);
          return { slow: true };
        },
      }),
    ];
  }
}

function confirmation(callId: string, allow: boolean): Json {
  return {
    type: 'user.tool_confirmation',
    tool_use_id: callId,
    result: allow ? 'allow' : 'deny',
  };
}

/** The model does what the last user message names, until its tools have answered. */
function turnFor(contents: readonly Content[]): ScriptedTurn {
  const lastUserMessage = contents.findLast(
    ({ role, parts }) => role === 'user' && parts.some(isTextPart),
  );
  const [first] = lastUserMessage?.parts ?? [];
  const text = first !== undefined && isTextPart(first) ? first.text : '';
  const isAnswered = contents.at(-1)?.parts.some(isFunctionResponsePart) === true;
  if (isAnswered && text !== 'again') return { text: 'Done.' };
  const calls = (...names: readonly string[]): ScriptedTurn => ({
    toolCalls: names.map((name) => ({ name, args: {} })),
  });
  switch (text) {
    case 'deploy':
    case 'pay':
    case 'count':
    case 'slow':
      return calls(text);
    case 'again':
      return calls('count');
    case 'both':
      return calls('deploy', 'pay', 'count');
    case 'twice':
      return calls('deploy', 'deploy', 'slow');
    case 'flaky':
      return { text: 'At last.', error: { kind: 'overloaded', attempts: 2 } };
    case 'down':
      return { text: '', error: { kind: 'overloaded' } };
    case 'refused':
      return { text: '', error: { kind: 'auth' } };
    case 'late':
      return { text: 'Later.', delayMs: 1500 };
    default:
      return { text: 'Plain.' };
  }
}
