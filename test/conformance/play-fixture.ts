import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject, LogEvent } from '../../src/core/index.ts';
import { IllegalTransitionError, openManagedRuntime } from '../../src/managed/index.ts';
import type {
  ManagedRuntime,
  ManagedRuntimeOptions,
  SessionEvent,
} from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { builtInsFor, openFixtureServer, findSkill } from './fixture-tools.ts';
import { listTurns } from './fixture.ts';
import type { Fixture, Step } from './fixture.ts';
import { normalizeEvents } from './normalize-events.ts';

export interface PlayOptions {
  /** The URL of an empty store. */
  readonly store: string;
  /** Replaces the scripted model. */
  readonly model?: Model;
  readonly options?: ManagedRuntimeOptions;
}

/** The result of a scenario, as a client sees it. */
export interface Played {
  readonly events: readonly SessionEvent[];
  readonly log: readonly LogEvent[];
  readonly status: string;
  readonly usage: JsonObject;
  readonly prompt: string;
}

/** Plays a scenario on a real runtime and store. Only the model provider is replaced. */
export async function playFixture(fixture: Fixture, options: PlayOptions): Promise<Played> {
  await using run = await FixtureRun.open(fixture, options);
  for (const step of fixture.scenario) await run.take(step);
  // Awaited here, because the run is disposed on return.
  const played = await run.played();
  return played;
}

/** @throws AssertionError when the result does not match the fixture */
export function checkPlayed({ assertions }: Fixture, played: Played): void {
  const types = played.events.map(({ type }) => type);
  const { exact_sequence: exact, must_contain: some = [], must_end_with: end } = assertions;
  if (exact !== undefined) assert.deepEqual(types, exact);
  for (const type of some)
    assert.ok(
      types.some((one) => one === type),
      `no ${type} in ${types.join(', ')}`,
    );
  if (end !== undefined) assert.deepEqual(types.slice(-end.length), end);
  if (assertions.events !== undefined)
    assert.deepEqual(normalizeEvents(played.events), assertions.events);
  if (assertions.log !== undefined) assert.deepEqual(normalizeEvents(played.log), assertions.log);
  for (const text of assertions.prompt ?? [])
    assert.ok(played.prompt.includes(text), `no ${text} in ${played.prompt}`);
  if (assertions.status !== undefined) assert.equal(played.status, assertions.status);
  if (assertions.usage !== undefined) assert.deepEqual(played.usage, assertions.usage);
  const numbers = played.log.map(({ seq }) => seq);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  );
  assert.ok(
    played.events.every(
      ({ seq }, index) => index === 0 || seq >= (played.events[index - 1]?.seq ?? 0),
    ),
  );
}

class FixtureRun implements AsyncDisposable {
  readonly #fixture: Fixture;
  readonly #options: PlayOptions;
  readonly #clock = new SimulatedClock(1_700_000_000_000);
  readonly #model: Model;
  readonly #scripted: ScriptedModel;
  readonly #grader: ScriptedModel;
  #asked = 0;
  #store: Store;
  #opened: ManagedRuntime | undefined;
  #id = '';
  #last:
    | { readonly events: readonly SessionEvent[]; readonly log: readonly LogEvent[] }
    | undefined;

  static async open(fixture: Fixture, options: PlayOptions): Promise<FixtureRun> {
    const store = await openStore(options.store);
    const run = new FixtureRun(fixture, options, store);
    run.#opened = await run.#open();
    const agent = await run.#runtime.create(fixture.agent_def);
    const { environment } = fixture;
    const session = await run.#runtime.startSession(
      agent.id,
      { userId: 'ada' },
      environment === undefined ? {} : { environment },
    );
    run.#id = session.id;
    return run;
  }

  private constructor(fixture: Fixture, options: PlayOptions, store: Store) {
    this.#fixture = fixture;
    this.#options = options;
    this.#store = store;
    this.#scripted = new ScriptedModel(listTurns(fixture));
    this.#model = options.model ?? this.#scripted;
    this.#grader = new ScriptedModel(() => ({ text: fixture.grader?.[this.#asked++] ?? '' }));
  }

  get #runtime(): ManagedRuntime {
    if (this.#opened === undefined) throw new Error('the fixture run is not open');
    return this.#opened;
  }

  async take(step: Step): Promise<void> {
    if ('type' in step) return this.#send(step);
    switch (step.do) {
      case 'restart':
        await this.#runtime.close();
        await this.#store.close();
        this.#store = await openStore(this.#options.store);
        this.#opened = await this.#open();
        return this.#rest();
      case 'advance':
        this.#clock.advance(step.ms);
        return this.#rest();
      case 'status':
        return assert.equal(await this.#runtime.status(this.#id), step.is);
      case 'replay':
        return this.#replay();
      case 'refused':
        return assert.rejects(this.#runtime[step.action](this.#id), IllegalTransitionError);
      case 'delete':
        return this.#delete();
      case 'fork':
        this.#id = (await this.#runtime.fork(this.#id)).id;
        return undefined;
      case 'rewind': {
        const [first] = (await this.#log()).filter((event) => event.type === 'turn.started');
        await this.#runtime.rewind(this.#id, { beforeInvocationId: first?.invocationId ?? '' });
        return undefined;
      }
      default:
        await this.#runtime[step.do](this.#id);
        return this.#rest();
    }
  }

  async played(): Promise<Played> {
    const { events, log } = this.#last ?? { events: await this.#events(), log: await this.#log() };
    const isGone = this.#last !== undefined;
    return {
      events,
      log,
      status: isGone ? 'deleted' : await this.#runtime.status(this.#id),
      usage: isGone ? {} : { ...(await this.#runtime.usage(this.#id)) },
      prompt: JSON.stringify(this.#scripted.requests.at(-1)?.contents ?? []),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime.close();
    await this.#store.close();
  }

  async #open(): Promise<ManagedRuntime> {
    return openManagedRuntime({
      store: this.#store,
      clock: this.#clock,
      resolver: async () => this.#model,
      grader: this.#grader,
      builtIns: async (name, environment) => builtInsFor(name, environment),
      mcp: openFixtureServer,
      skills: async (id) => findSkill(id),
      ...this.#options.options,
    });
  }

  async #send(step: Extract<Step, { readonly type: string }>): Promise<void> {
    const { until, refused, dedupe_key: dedupeKey, ...event } = step;
    const answered = await this.#withEventId(event);
    const sent = this.#runtime.sendEvent(this.#id, answered, {
      ...(dedupeKey !== undefined && { dedupeKey }),
    });
    if (refused !== undefined) return assert.rejects(sent, { code: refused });
    await sent;
    if (until === undefined) return this.#rest();
    for await (const { type } of this.#runtime.streamLog(this.#id, 0, { partials: true }))
      if (type === until) break;
  }

  /** A scenario names a call by the id in its model script. Replaces it by the id in the event. */
  async #withEventId(event: JsonObject): Promise<JsonObject> {
    const member = 'custom_tool_use_id' in event ? 'custom_tool_use_id' : 'tool_use_id';
    const scriptedId = event[member];
    if (typeof scriptedId !== 'string') return event;
    const scripted = listTurns(this.#fixture).flatMap(({ toolCalls = [] }) => toolCalls);
    const index = scripted.findIndex(({ id }) => id === scriptedId);
    const uses = (await this.#events()).filter(({ type }) => type.endsWith('tool_use'));
    const use = uses[index];
    const id = use === undefined ? undefined : Reflect.get(use, member);
    return typeof id === 'string' ? { ...event, [member]: id } : event;
  }

  /** Resolves when the session waits for the client or the clock. */
  async #rest(): Promise<void> {
    for (;;) {
      const rows = await this.#store.list({});
      const row = rows.find(({ key }) => key.sessionId === this.#id);
      const isDue = (row?.nextDueAt ?? Infinity) <= this.#clock.now();
      const isBusy = isDue || row?.inboxPending === true || row?.status === 'running';
      if (!isBusy) return;
      await setImmediate();
    }
  }

  async #replay(): Promise<void> {
    const all = await this.#events();
    const log = await this.#log();
    for (let from = 0; from <= log.length; from++) {
      const after = ({ seq }: { readonly seq: number }): boolean => seq > from;
      assert.deepEqual(await this.#events(from), all.filter(after));
      assert.deepEqual(await this.#log(from), log.filter(after));
    }
  }

  async #delete(): Promise<void> {
    const events: SessionEvent[] = [];
    const log = await this.#log();
    const reading = (async () => {
      for await (const event of this.#runtime.streamEvents(this.#id, 0)) events.push(event);
    })();
    while (events.length < (await this.#events()).length) await setImmediate();
    await this.#runtime.deleteSession(this.#id);
    await reading;
    this.#last = { events, log };
  }

  async #events(from = 0): Promise<readonly SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.#runtime.streamEvents(this.#id, from, { follow: false }))
      events.push(event);
    return events;
  }

  async #log(from = 0): Promise<readonly LogEvent[]> {
    const log: LogEvent[] = [];
    for await (const event of this.#runtime.streamLog(this.#id, from, { follow: false })) {
      if (!isNoLogEvent(event)) log.push(event);
    }
    return log;
  }
}

function isNoLogEvent<T extends { readonly type: string }>(
  event: T,
): event is Extract<T, { readonly type: 'partial' | 'partial.reset' | 'session.deleted' }> {
  return ['partial', 'partial.reset', 'session.deleted'].includes(event.type);
}
