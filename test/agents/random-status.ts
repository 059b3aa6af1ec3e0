import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { agent, custom, parallel, sequential, START, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { isTextPart } from '../../src/core/index.ts';
import type { Content, SessionStatus } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { SettledStep } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

/** The statuses of a session whose model calls succeed, and whose turns call no tools. */
const BASIC = ['running', 'idle', 'paused', 'completed', 'archived'] as const;
const WITH_TOOLS = [...BASIC, 'waiting'] as const;
const ALL = [...WITH_TOOLS, 'rescheduling', 'failed'] as const;

interface Kind {
  readonly create: (model: ScriptedModel) => Agent;
  /** The statuses that a long search must meet. */
  readonly statuses: readonly SessionStatus[];
  /** False: no model call fails. Two calls at once would be in different attempts. */
  readonly fails?: boolean;
}

const ask = tool({ name: 'ask', description: 'Asks a person.', timeoutMs: 60_000 });

const withAsk = (name: string, model: ScriptedModel, subAgents: readonly Agent[] = []): Agent =>
  agent({ name, description: name, model, tools: [ask], subAgents, modelAttempts: 3 });

/** The kinds of agents, and how to create one. */
export const STATUS_KINDS: Readonly<
  Record<'agent' | 'team' | 'sequential' | 'parallel' | 'workflow' | 'custom', Kind>
> = {
  agent: { create: (model) => withAsk('one', model), statuses: ALL },
  team: { create: (model) => withAsk('root', model, [withAsk('other', model)]), statuses: ALL },
  sequential: {
    create: (model) =>
      sequential({ name: 'steps', subAgents: [withAsk('a', model), withAsk('b', model)] }),
    statuses: ALL,
  },
  parallel: {
    create: (model) =>
      parallel({ name: 'both', subAgents: [withAsk('a', model), withAsk('b', model)] }),
    statuses: WITH_TOOLS,
    fails: false,
  },
  workflow: {
    create: () =>
      workflow({
        name: 'flow',
        nodes: [{ kind: 'function', name: 'plan', run: () => 'planned' }],
        edges: [{ from: START, to: 'plan' }],
      }),
    statuses: BASIC,
  },
  custom: {
    create: (model) =>
      custom({
        name: 'own',
        subAgents: [withAsk('helper', model)],
        async *run({ run }) {
          yield* run('helper');
        },
      }),
    statuses: WITH_TOOLS,
  },
};

export type StatusAction = { readonly turns: number } & (
  | { readonly do: 'send'; readonly text: 'plain' | 'ask' | 'down' | 'late' }
  | { readonly do: 'pause' | 'resume' | 'complete' | 'archive' | 'interrupt' | 'answer' | 'rewind' }
  | { readonly do: 'advance'; readonly ms: number }
);

export interface StatusPlan {
  readonly kind: keyof typeof STATUS_KINDS;
  readonly actions: readonly StatusAction[];
}

const turns = fc.constantFrom(0, 1, 5, 40);

/** Arbitrary inputs to a session of one kind. */
export const statusPlans: fc.Arbitrary<StatusPlan> = fc.record({
  kind: fc.constantFrom(...(Object.keys(STATUS_KINDS) as readonly (keyof typeof STATUS_KINDS)[])),
  actions: fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('send' as const),
          text: fc.constantFrom('plain', 'ask', 'down', 'late'),
          turns,
        }),
      },
      {
        weight: 8,
        arbitrary: fc.record({
          do: fc.constantFrom(
            'pause',
            'resume',
            'resume',
            'interrupt',
            'answer',
            'answer',
            'rewind',
          ),
          turns,
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constantFrom('complete', 'archive'), turns }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('advance' as const),
          ms: fc.constantFrom(500, 1000, 5000, 60_000),
          turns,
        }),
      },
    ),
    { maxLength: 25, size: 'max' },
  ),
});

/** A store that records every committed step. */
class RecordingStore extends MemoryStore {
  readonly committed: Pick<SettledStep, 'events' | 'summary'>[] = [];

  override async commit(steps: readonly SettledStep[]): ReturnType<MemoryStore['commit']> {
    const results = await super.commit(steps);
    for (const [index, { events, summary }] of steps.entries())
      if (results[index]?.ok === true) this.committed.push({ events, summary });
    return results;
  }
}

/** The errors that a caller may get. Any other error is a fault. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'illegal_transition',
  'already_answered',
  'call_not_pending',
  'invalid_input',
  'runtime_closed',
]);

export interface StatusRun {
  readonly steps: readonly Pick<SettledStep, 'events' | 'summary'>[];
  readonly faults: readonly string[];
}

/** Runs a plan on a session, with a simulated clock. */
export async function runStatusPlan({ kind, actions }: StatusPlan): Promise<StatusRun> {
  const clock = new SimulatedClock(1_000);
  const store = new RecordingStore();
  const faults: string[] = [];
  const { create, fails = true } = STATUS_KINDS[kind];
  const model = new ScriptedModel(({ contents }) => answerTo(contents, fails), {
    sleep: async (ms, signal) =>
      new Promise((resolve, reject) => {
        clock.at(clock.now() + ms, () => resolve());
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const runtime = await openRuntime({
    agents: [create(model)],
    store,
    clock,
    onError: (error) => faults.push(String(error)),
  });
  const session = await runtime.session('s');
  const acting: Promise<unknown>[] = [];
  for (const action of actions) {
    if (action.do === 'advance') clock.advance(action.ms);
    else
      acting.push(
        act(session, action).catch((error: unknown) => {
          if (!REFUSALS.has(Object(error).code)) faults.push(`${action.do}: ${String(error)}`);
        }),
      );
    for (let n = 0; n < action.turns; n++) await setImmediate();
  }
  for (let n = 0; n < 40; n++) await setImmediate();
  const closing = runtime.close();
  // Running model calls are aborted after the grace period.
  for (let n = 0; n < 6; n++) {
    await setImmediate();
    clock.advance(1_000);
  }
  await closing;
  await Promise.all(acting);
  return { steps: store.committed, faults };
}

async function act(
  session: Session,
  action: Exclude<StatusAction, { readonly do: 'advance' }>,
): Promise<unknown> {
  switch (action.do) {
    case 'send':
      return session.send(action.text).accepted;
    case 'answer': {
      const [call] = await session.pending();
      return session.answer(call?.callId ?? 'call_none', 'Blue.').accepted;
    }
    case 'rewind':
      return session.rewind({ beforeInvocationId: await findLastInvocation(session) });
    default:
      return session[action.do]();
  }
}

async function findLastInvocation(session: Session): Promise<string> {
  let last = 'inv_none';
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'turn.started') last = event.invocationId;
  return last;
}

/** The model does what the last user message names, until its tools have answered. */
function answerTo(contents: readonly Content[], fails: boolean): ScriptedTurn {
  const isAnswered = contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true;
  const message = contents.findLast(({ role, parts }) => role === 'user' && parts.some(isTextPart));
  const [text] = message?.parts.flatMap((part) => (isTextPart(part) ? [part.text] : [])) ?? [];
  if (text === 'ask' && !isAnswered) return { toolCalls: [{ name: 'ask', args: {} }] };
  if (text === 'down' && fails) return { text: '', error: { kind: 'overloaded' } };
  return { text: 'Plain.', ...(text === 'late' && { delayMs: 1500 }) };
}
