import * as v from 'valibot';
import { state } from '../agents/places.ts';
import { carriedIn } from '../agents/watched-call.ts';
import type { Agent, AgentHost, ChildOutcome, ChildRequest, Watch } from '../agents/index.ts';
import { formatSessionKey, isChildSessionId } from '../core/index.ts';
import type { LogEvent, PartialEvent, PartialText, Seq, SessionKey } from '../core/index.ts';
import { clockAhead, Driver, Executor, mapIn, upgradeOf } from '../net/index.ts';
import type { Clock, Marking, RecordSeq, Shown, Step, StepOutcome } from '../net/index.ts';
import type { Committer, PendingCall, SessionRow, SettledStep, Store } from '../store/index.ts';
import type { ToolServices } from '../tools/index.ts';
import { artifactsOfRoot } from './artifacts-of-root.ts';
import type { CalledAgents } from './called-agents.ts';
import { hydrate, storedSnapshot } from './hydrate.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Instrument } from './instrument.ts';
import type { ModelCallCounts } from './model-call-counts.ts';
import { PendingWrites } from './pending-writes.ts';
import { eventsOfStep, isRunning, sharedOf, summaryOf } from './settled-step.ts';

/** A snapshot is written with every so many steps: more cost bytes, fewer cost time when the session is brought back. */
const STEPS_PER_SNAPSHOT = 64;

export interface HostServices {
  readonly store: Store;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly feed: LiveFeed;
  readonly owner: string;
  readonly observe: NonNullable<Instrument['observe']>;
  readonly watch?: Watch | undefined;
  readonly services: ToolServices;
  readonly runChild: (parent: SessionKey, request: ChildRequest) => Promise<ChildOutcome>;
  readonly called: CalledAgents | undefined;
  readonly modelCalls: ModelCallCounts;
}

export interface HostOptions extends HostServices {
  readonly agent: Agent;
  readonly row: SessionRow;
  /** This runtime no longer hosts the session: it was taken over, or failed (with the reason). */
  readonly onGone: (error?: unknown) => void;
}

/** A session this runtime owns: its net, driven, with the store as its journal. */
export class HostedSession {
  readonly key: SessionKey;
  readonly agent: Agent;
  readonly #options: HostOptions;
  readonly #name: string;
  /**
   * How far this session's clock is ahead of the runtime's, and that clock. The last record may come from a machine whose
   * clock is ahead of ours: the session's time goes on from there.
   */
  #aheadMs: number;
  readonly #clock: Clock;
  readonly #driver: Driver;
  #head: number;
  #lastSeq: Seq;
  #lastInput = 0;
  #consumed = 0;
  /** Versions of shared keys as of the last committed step. */
  #versions: Readonly<Record<string, number>>;
  #events: readonly LogEvent[] = [];
  #pending: readonly PendingCall[];
  #pulling = 0;
  #pulled: Promise<void> = Promise.resolve();
  #failures: number;

  /** @throws NetChangedError when the session's tokens do not fit the agent any more */
  static async open(options: HostOptions): Promise<HostedSession> {
    const marking = await hydrate(options.store, options.row.key);
    const host = new HostedSession(options, marking);
    host.#driver.hold();
    if (marking.seq > 0) {
      const upgrade = upgradeOf(marking, options.agent.compiled, options.agent.migrate);
      if (upgrade !== undefined) host.#driver.note(upgrade);
    }
    // Nothing of this process runs for the session yet: what the journal has in flight was some owner's that is gone.
    if ([...marking.firings.values()].some(isRunning)) {
      host.#driver.note({ kind: 'owned', owner: options.owner, epoch: options.row.epoch });
      host.#driver.recover();
    }
    // A result or an answer that waits in the inbox goes before a timer that fell due while nobody was there.
    await host.pull();
    host.#driver.release();
    return host;
  }

  private constructor(options: HostOptions, marking: Marking) {
    const { row, agent } = options;
    this.#options = options;
    this.#aheadMs = Math.max(0, marking.at - options.clock.now());
    const clock = clockAhead(options.clock, () => this.#aheadMs);
    this.#clock = clock;
    this.key = row.key;
    this.agent = agent;
    this.#name = formatSessionKey(row.key);
    this.#head = row.head;
    this.#lastSeq = row.lastSeq;
    this.#failures = row.failures;
    this.#pending = row.pending;
    this.#versions = marking.shared;
    this.#driver = new Driver({
      clock,
      executor: (onAbort) => this.#executor(marking, onAbort),
      reload: async (onAbort) => {
        const fresh = this.#executor(await hydrate(options.store, row.key), onAbort);
        this.#versions = fresh.marking.shared;
        fresh.note(
          { kind: 'loaded', place: 'state', ...(await options.store.shared(row.key)) },
          clock.now(),
        );
        return fresh;
      },
      commit: async (step) => this.#commit(step),
      onCommitted: (step) => this.#committed(step),
      onShown: (shown) => options.feed.tell(this.#name, partialOf(shown)),
      onRefused: () => options.onGone(),
      onFailed: (error) => options.onGone(error),
    });
    // The store knows when the session is due by the clock of those who host it: the wait goes on from there.
    const due = this.#driver.executor.neededLookAt;
    const isSameNet = row.netHash === agent.compiled.hash;
    if (this.#aheadMs > 0 && due !== undefined && row.nextDueAt !== null && isSameNet)
      this.#aheadMs = Math.max(this.#aheadMs, due - row.nextDueAt);
  }

  /** Tells the session from a deleted one of its id. */
  get uid(): SessionRow['uid'] {
    return this.#options.row.uid;
  }

  /** The last event this host has committed. */
  get lastSeq(): Seq {
    return this.#lastSeq;
  }

  /** True when letting go of this object loses nothing: the store says it all. */
  get isQuiet(): boolean {
    return this.#pulling === 0 && this.#driver.isQuiet;
  }

  get marking(): Marking {
    return this.#driver.executor.marking;
  }

  /** The turn that runs or waits now. */
  get invocationId(): string | undefined {
    return this.agent.statusOf(this.marking).invocationId;
  }

  /** True while its turn waits for someone outside. */
  get isWaiting(): boolean {
    return this.agent.statusOf(this.marking).status === 'waiting';
  }

  /** Takes what is new in the inbox, once and in its order, however often it is called at once. */
  async pull(): Promise<void> {
    this.#pulling++;
    const pulled = this.#pulled.then(async () => this.#takeInbox());
    this.#pulled = pulled.catch(() => {});
    try {
      await pulled;
    } finally {
      this.#pulling--;
    }
  }

  /** Ends cleanly: see `Driver.close`. */
  async close(graceMs?: number): Promise<void> {
    await this.#driver.close(graceMs);
  }

  /** Lets go at once; nothing more is written. */
  stop(): void {
    this.#driver.stop();
  }

  async #takeInbox(): Promise<void> {
    const { store } = this.#options;
    for (const { inputSeq, input, key } of await store.inbox(this.key, this.#lastInput)) {
      if (input.place === 'user.in') await this.#loadShared();
      // Not before: one that could not be taken is taken the next time.
      this.#lastInput = inputSeq;
      this.#driver.inject({ place: input.place, value: input.value, key, inputSeq });
    }
  }

  /** What runs next must see shared state as it is when its invocation begins. */
  async #loadShared(): Promise<void> {
    const shared = await this.#options.store.shared(this.key);
    if (!sameVersions(shared.versions, this.marking.shared))
      this.#driver.note({ kind: 'loaded', place: 'state', ...shared });
  }

  #executor(marking: Marking, onAbort: (firing: RecordSeq) => void): Executor {
    const { row, agent, watch } = this.#options;
    const now = (): Marking => executor.marking;
    const host: AgentHost = {
      sessionKey: row.key,
      stateAhead: new PendingWrites(
        () => mapIn(now(), state.name),
        (firingId) => now().firings.has(Number(firingId.slice(row.uid.length + 1))),
      ),
      ...(watch !== undefined && { watch }),
      services: servicesIn(row.key, this.#options.services),
      runChild: async (request) => this.#options.runChild(row.key, request),
      countModelCall: async (invocation) => this.#options.modelCalls.next(row.key, invocation),
    };
    const executor = new Executor(agent.compiled, marking, {
      firingIdOf: (firing) => `${row.uid}/${firing}`,
      onAbort,
      host,
    });
    if (marking.seq === 0) executor.begin(this.#clock.now());
    return executor;
  }

  async #commit(step: Step): Promise<StepOutcome> {
    const { agent, committer, owner, row } = this.#options;
    const { executor } = this.#driver;
    const { marking } = executor;
    const number = this.#head + 1;
    const events = eventsOfStep(step, (record) => agent.eventsOf(record, marking), this.#lastSeq);
    const shared = sharedOf(step.records, this.#versions);
    const consumed = step.injected.reduce(
      (most, { inputSeq }) => Math.max(most, inputSeq ?? 0),
      this.#consumed,
    );
    const settled: SettledStep = {
      key: row.key,
      uid: row.uid,
      owner,
      epoch: row.epoch,
      step: number,
      at: marking.at,
      records: step.records,
      events,
      inboxUpTo: consumed,
      summary: summaryOf(agent.statusOf(marking), marking, this.#dueAt(executor.needsLookAt)),
      ...(shared !== undefined && { shared }),
      ...(number % STEPS_PER_SNAPSHOT === 0 && { snapshot: storedSnapshot(marking) }),
    };
    const result = await committer.commit(settled);
    if (!result.ok) return result.refused === 'conflict' ? 'conflict' : 'refused';
    this.#head = number;
    this.#lastSeq += events.length;
    this.#consumed = consumed;
    this.#versions = marking.shared;
    this.#events = events;
    this.#tellCalled(events, settled.summary.pending);
    for (const event of events)
      if (event.type === 'turn.started')
        this.#options.modelCalls.begin(row.key, event.invocationId);
    return 'committed';
  }

  /** A moment of the session's clock as the runtime's clock names it. */
  #dueAt(at: number | undefined): number | undefined {
    return at === undefined ? undefined : at - this.#aheadMs;
  }

  /** Tells of the step what matters to the agents that this session called, and to the one that called it. */
  #tellCalled(events: readonly LogEvent[], pending: readonly PendingCall[]): void {
    const { called } = this.#options;
    const before = this.#pending;
    this.#pending = pending;
    if (called === undefined) return;
    const { key } = this;
    const ended = events.some(({ type }) => type === 'turn.ended');
    const moved = events.findLast(({ type }) => type === 'turn.ended' || type === 'turn.resumed');
    if (moved !== undefined && isChildSessionId(key.sessionId)) void called.moved(key, moved.seq);
    if (ended) void called.ended({ key, pending: before });
    if (events.some(({ type }) => type === 'tool.pending')) void called.check({ key, pending });
  }

  #committed(step: Step): void {
    const { feed, observe } = this.#options;
    const resets = step.records.flatMap((record): readonly PartialEvent[] =>
      record.kind === 'restarted'
        ? [
            {
              type: 'partial.reset',
              firingId: `${this.#options.row.uid}/${record.firing}`,
              attempt: record.attempt,
            },
          ]
        : [],
    );
    // It runs: what failed before is over. Whoever fails before this point is counted.
    if (this.#failures > 0) {
      this.#failures = 0;
      void this.#options.store.hydrated(this.key, true).catch(() => {});
    }
    feed.tell(this.#name, [...this.#events, ...resets]);
    observe(
      { key: this.key, step: this.#head, records: step.records, events: this.#events },
      {
        agent: this.agent,
        invocationId: this.invocationId,
        carried: carriedIn(this.marking.maps.get('state') ?? {}),
        log: (from = 0) => this.#options.store.read(this.key, from),
      },
    );
  }
}

/** A called agent has the artifacts of the session that was sent the message. */
function servicesIn(key: SessionKey, services: ToolServices): ToolServices {
  const { artifacts } = services;
  if (artifacts === undefined || !isChildSessionId(key.sessionId)) return services;
  return { ...services, artifacts: artifactsOfRoot(artifacts) };
}

function sameVersions(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** What an effect shows, as clients see it; anything else it emits is its own affair. */
function partialOf({ firingId, attempt, partial }: Shown): readonly PartialEvent[] {
  const parsed = v.safeParse(shownSchema, partial);
  return parsed.success ? [{ type: 'partial', firingId, attempt, ...parsed.output }] : [];
}

const shownSchema: v.GenericSchema<
  unknown,
  Omit<PartialText, 'type' | 'firingId' | 'attempt'>
> = v.object({
  kind: v.picklist(['text', 'thinking', 'progress']),
  text: v.string(),
  callId: v.exactOptional(v.string()),
  invocationId: v.string(),
  author: v.exactOptional(v.string()),
  branch: v.exactOptional(v.string()),
  nodeInfo: v.exactOptional(
    v.object({
      path: v.string(),
      runId: v.exactOptional(v.string()),
      name: v.exactOptional(v.string()),
    }),
  ),
});
