import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type {
  ManagedRuntime,
  ManagedAgent,
  ManagedAgentDef,
  ManagedRuntimeOptions,
  ManagedStatus,
  SessionEvent,
  UserEvent,
} from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

export const AT = 1_700_000_000_000;

/** The definition of a stored agent. */
export function getDefinition(agent: ManagedAgent | undefined): ManagedAgentDef {
  assert.ok(agent?.source === 'definition');
  return agent.definition;
}

export interface ManagedFixtureOptions extends ManagedRuntimeOptions {
  readonly definition?: object;
  readonly tools?: readonly Tool[];
  /** Continues this session instead of starting one. */
  readonly sessionId?: string;
}

/** A managed runtime with one session, a scripted model and a simulated clock. */
export interface ManagedFixture extends AsyncDisposable {
  readonly runtime: ManagedRuntime;
  readonly id: string;
  readonly model: ScriptedModel;
  readonly clock: SimulatedClock;
  readonly store: Store;
  readonly send: (text: string) => Promise<void>;
  /** Returns all events up to the first event of this type after `from`. */
  readonly until: (type: LogEvent['type'], from?: number) => Promise<readonly LogEvent[]>;
  readonly sessionEventsUntil: (
    type: SessionEvent['type'],
    from?: number,
  ) => Promise<readonly SessionEvent[]>;
  readonly log: () => Promise<readonly LogEvent[]>;
  readonly types: () => Promise<readonly string[]>;
  readonly status: () => Promise<ManagedStatus>;
}

export async function openManagedFixture(
  script: ModelScript,
  options: ManagedFixtureOptions = {},
): Promise<ManagedFixture> {
  const { definition = {}, tools = [], store = new MemoryStore(), sessionId, ...more } = options;
  if (typeof store === 'string') throw new Error('a fixture needs an open store');
  const model = new ScriptedModel(script);
  const clock = new SimulatedClock(AT);
  const runtime = await openManagedRuntime({
    resolver: async () => model,
    builtIns: async (name) => tools.filter((one) => one.name === name),
    clock,
    store,
    ...more,
  });
  const id = sessionId ?? (await startSession(runtime, definition));
  const read = async (
    from = 0,
    follow = false,
    lastType?: string,
  ): Promise<readonly LogEvent[]> => {
    const events: LogEvent[] = [];
    for await (const event of runtime.streamLog(id, from, { follow })) {
      if (event.type === 'partial' || event.type === 'partial.reset') continue;
      if (event.type === 'session.deleted') break;
      events.push(event);
      if (event.type === lastType) break;
    }
    return events;
  };
  return {
    runtime,
    id,
    model,
    clock,
    store,
    send: async (text) => {
      await runtime.sendEvent(id, userMessage(text));
    },
    until: async (type, from) => read(from, true, type),
    sessionEventsUntil: async (type, from = 0) => {
      const events: SessionEvent[] = [];
      for await (const event of runtime.streamEvents(id, from)) {
        events.push(event);
        if (event.type === type) break;
      }
      return events;
    },
    log: async () => read(),
    types: async () => (await read()).map(({ type }) => type),
    status: async () => runtime.status(id),
    [Symbol.asyncDispose]: async () => runtime.close(),
  };
}

/** Advances the clock second by second until an event of this type occurs after `from`. */
export async function playUntil(
  on: ManagedFixture,
  type: LogEvent['type'],
  from = 0,
): Promise<readonly LogEvent[]> {
  const progress = { over: false };
  const seen = on.until(type, from).finally(() => {
    progress.over = true;
  });
  while (!progress.over) {
    on.clock.advance(1000);
    await setImmediate();
  }
  return seen;
}

async function startSession(runtime: ManagedRuntime, definition: object): Promise<string> {
  const agent = await runtime.create({ name: 'helper', model: 'gemini-2.5-flash', ...definition });
  return (await runtime.startSession(agent.id, { userId: 'ada' })).id;
}

export function userMessage(text: string): UserEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

export const deployTool = {
  type: 'custom',
  name: 'deploy',
  description: 'Deploys',
  input_schema: { type: 'object', properties: { target: { type: 'string' } } },
};

/** A built-in tool that records its runs. */
export function countingTool(name: string): Tool & { readonly ran: unknown[] } {
  const ran: unknown[] = [];
  const base = tool({
    name,
    description: name,
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    execute: (args) => {
      ran.push(args);
      return { ok: true };
    },
  });
  return { ...base, ran };
}
