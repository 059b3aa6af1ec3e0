import { isClosedStatus, omitUndefined } from '../../core/internal.ts';
import { createMetadataReader, readPromptFormat, state, userIn } from '../../agents/internal.ts';
import type { Agent, AgentHost, AgentStatus, ChildAgentOutcome } from '../../agents/index.ts';
import { formatSessionKey, isChildSessionId } from '../../core/index.ts';
import type { LogEvent, Seq, SessionKey, SessionStatus } from '../../core/index.ts';
import { clockAhead, Driver, Executor, mapIn } from '../../net/index.ts';
import type { Clock, Injection, Marking, RecordSeq, Step, StepOutcome } from '../../net/index.ts';
import type {
  InjectReceipt,
  SessionInput,
  SessionRow,
  SettledStep,
  Store,
  StoredPendingCall,
} from '../../store/index.ts';
import type { Committer, FinalCommitResult } from '../scheduling/committer.ts';
import { repeatWhileUnavailable } from '../scheduling/repeat-while-unavailable.ts';
import type { ToolServices } from '../../tools/index.ts';
import { rootSessionArtifacts } from '../called-agents/root-session-artifacts.ts';
import type { CalledAgents } from '../called-agents/called-agents.ts';
import { hydrateFor, toStoredSnapshot } from '../journal/hydrate.ts';
import type { SessionBroadcast } from '../log/session-broadcast.ts';
import type { ChildCall } from '../called-agents/run-in-child-session.ts';
import type { ComposedInterceptor, ObservedSession } from '../interceptors/interceptor.ts';
import type { ModelCallCounts } from '../called-agents/model-call-counts.ts';
import { DirectInputs } from './direct-inputs.ts';
import { findInputPlace, loadSession } from './load-session.ts';
import type { SessionAttachment, SessionAttachments } from './session-attachment.ts';
import type { LoadedSession } from './load-session.ts';
import { PendingWrites } from './pending-writes.ts';
import { toPartialEvents, toPartialResets } from './to-partial-events.ts';
import { StepUsageCounter } from '../journal/step-usage.ts';
import {
  toLogEvents,
  isRunning,
  toSharedWrites,
  toSessionSummary,
} from '../journal/settled-step.ts';

/** Steps per snapshot. A smaller number costs bytes in the store; a larger one costs time when a session is loaded. */
const STEPS_PER_SNAPSHOT = 64;

const OUTCOME_BY_REFUSAL = {
  stale: 'refused',
  conflict: 'conflict',
  inputs: 'inputs-refused',
} as const;

export interface HostedSessionServices {
  readonly store: Store;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly broadcast: SessionBroadcast;
  readonly owner: string;
  readonly services: ToolServices;
  readonly resolveModel?: AgentHost['resolveModel'] | undefined;
  readonly runChild: (parent: SessionKey, call: ChildCall) => Promise<ChildAgentOutcome>;
  readonly calledAgents: CalledAgents | undefined;
  readonly modelCalls: ModelCallCounts;
  /** Checks the quotas of a user before a call of a model. Undefined: there are none. @throws QuotaExceededError */
  readonly checkQuota?: ((user: string, model: string) => Promise<void>) | undefined;
  readonly attachments?: SessionAttachments | undefined;
}

export interface HostedSessionOptions {
  /** The same for all sessions of the runtime. */
  readonly runtime: HostedSessionServices;
  readonly agent: Agent;
  readonly interceptor: Pick<ComposedInterceptor, 'observe' | 'interceptCall'>;
  readonly row: SessionRow;
  /** The session as of `row`, if it has been loaded. */
  readonly loaded?: LoadedSession | undefined;
  /** Called when this runtime no longer hosts the session: another owner took it, or it failed (with the error). */
  readonly onStopped: (error?: unknown) => void;
}

/** A session that this runtime owns. It drives the session's net and writes each step to the store. */
export class HostedSession {
  readonly key: SessionKey;
  readonly agent: Agent;
  readonly #options: HostedSessionOptions;
  readonly #name: string;
  /**
   * How far the session's clock is ahead of the runtime's. The last record may come from a machine whose clock was
   * ahead; session time continues from there and never runs backward.
   */
  #clockSkewMs: number;
  readonly #clock: Clock;
  readonly #driver: Driver;
  readonly #attachment: SessionAttachment | undefined;
  #head: number;
  #lastSeq: Seq;
  #lastInput = 0;
  #consumed = 0;
  /** Versions of shared keys as of the last committed step. */
  #versions: Readonly<Record<string, number>>;
  #events: readonly LogEvent[] = [];
  readonly #usage = new StepUsageCounter();
  readonly #readMetadata = createMetadataReader();
  #movedInputs: LoadedSession['movedInputs'];
  #pending: readonly StoredPendingCall[];
  readonly #direct = new DirectInputs();
  #pulling = 0;
  #isClosing = false;
  #pulled: Promise<unknown> = Promise.resolve();
  #failures: number;
  #status:
    | { readonly marking: Marking; readonly seq: number; readonly value: AgentStatus }
    | undefined;

  /**
   * Loads the session, recovers the firings that a former owner left in flight, and takes the inbox.
   * @throws NetChangedError when the session's tokens do not fit the agent
   */
  static async open(options: HostedSessionOptions): Promise<HostedSession> {
    const { runtime, row, agent, loaded } = options;
    const { marking, upgrade, movedInputs } =
      loaded ?? (await loadSession(runtime.store, row, agent));
    const host = new HostedSession(options, marking);
    host.#movedInputs = movedInputs;
    host.#driver.hold();
    if (upgrade !== undefined) host.#driver.appendSystemRecord(upgrade);
    // This process runs nothing for the session yet, so every firing in flight belongs to a former owner.
    if ([...marking.firings.values()].some(isRunning)) {
      host.#driver.appendSystemRecord({
        kind: 'owned',
        owner: runtime.owner,
        epoch: row.epoch,
      });
      host.#driver.recover();
    }
    // Connections of the former owner are gone: the net learns it before anything else.
    for (const input of agent.listOwnerInputs?.(marking, row.epoch) ?? [])
      host.#driver.inject(input);
    // Inputs in the inbox come before timers that fell due while the session had no owner.
    try {
      await host.pull();
    } catch (error) {
      host.stop();
      throw error;
    }
    host.#driver.release();
    return host;
  }

  private constructor(options: HostedSessionOptions, marking: Marking) {
    const { runtime, row, agent } = options;
    this.#options = options;
    this.#clockSkewMs = Math.max(0, marking.at - runtime.clock.now());
    const clock = clockAhead(runtime.clock, () => this.#clockSkewMs);
    this.#clock = clock;
    this.key = row.key;
    this.agent = agent;
    this.#name = formatSessionKey(row.key);
    this.#head = row.head;
    this.#lastSeq = row.lastSeq;
    this.#failures = row.failures;
    this.#pending = row.pending;
    this.#versions = marking.shared;
    this.#attachment = runtime.attachments?.attach({
      key: row.key,
      agent: agent.name,
      clock,
      inject: (input) => this.#driver.inject(input),
    });
    this.#driver = new Driver({
      clock,
      executor: (onAbort) => this.#createExecutor(marking, onAbort),
      reload: async (onAbort) => {
        // To give the session up would decide its running calls as after a crash.
        const [fresh, shared] = await repeatWhileUnavailable(
          async () => [
            this.#createExecutor(await hydrateFor(runtime.store, row.key, agent.compiled), onAbort),
            await runtime.store.shared(row.key),
          ],
          { isOpen: () => !this.#isClosing },
        );
        this.#versions = fresh.marking.shared;
        // A step that was refused for its input leaves shared state as it was: nothing is recorded for it.
        if (!sameVersions(shared.versions, this.#versions))
          fresh.appendSystemRecord({ kind: 'loaded', place: state.name, ...shared }, clock.now());
        return fresh;
      },
      commit: async (step) => this.#commit(step),
      onCommitted: (step) => this.#onCommitted(step),
      onProgress: (progress) => runtime.broadcast.publish(this.#name, toPartialEvents(progress)),
      onRefused: () => this.#onStopped(),
      onFailed: (error) => this.#onStopped(error),
    });
    // `nextDueAt` in the store is in the time of the former owner's clock. Keep the remaining wait the same.
    const isSameNet = row.netHash === agent.compiled.hash;
    if (this.#clockSkewMs > 0 && row.nextDueAt !== null && isSameNet) {
      const { settledNextRunAt: due = -Infinity } = this.#driver.executor;
      this.#clockSkewMs = Math.max(this.#clockSkewMs, due - row.nextDueAt);
    }
  }

  /** Distinguishes the session from a deleted one with the same id. */
  get uid(): SessionRow['uid'] {
    return this.#options.row.uid;
  }

  /** Counts the owners of the session, up to this one. */
  get epoch(): number {
    return this.#options.row.epoch;
  }

  /** The last event this host has committed. */
  get lastSeq(): Seq {
    return this.#lastSeq;
  }

  /** True when the store has everything, so this object can be dropped. */
  get isQuiescent(): boolean {
    return this.#pulling === 0 && this.#driver.isIdle && this.#attachment?.isActive !== true;
  }

  /** The number of its last step. */
  get head(): number {
    return this.#head;
  }

  /** When a timer of the session is due, by the runtime's clock. Undefined: it has none. */
  get nextRunAt(): number | undefined {
    return this.#toRuntimeTime(this.#driver.executor.nextRunAt);
  }

  /** True while a live connection keeps the session in this process. */
  get isAttached(): boolean {
    return this.#attachment?.isActive === true;
  }

  /** Resolves when no effect runs and every step is committed, or when this object has stopped. */
  async whenQuiescent(): Promise<void> {
    do {
      await this.#pulled;
      await this.#driver.whenQuiescent();
    } while (this.#pulling > 0);
  }

  get marking(): Marking {
    return this.#driver.executor.marking;
  }

  /** The turn that runs or waits now; undefined when the session is idle. */
  get invocationId(): string | undefined {
    return this.#readStatus().invocationId;
  }

  /** True while the turn waits for an approval or a result from outside. */
  get isWaiting(): boolean {
    return this.#readStatus().activity === 'waiting';
  }

  get status(): SessionStatus {
    return this.#readStatus().status;
  }

  /** Reads the status of the current marking, once after each record. */
  #readStatus(): AgentStatus {
    const { marking } = this;
    const { seq } = marking;
    if (this.#status?.marking !== marking || this.#status.seq !== seq)
      this.#status = { marking, seq, value: this.agent.readStatus(marking) };
    return this.#status.value;
  }

  /** Injects the new inputs of the inbox, once each and in order. Concurrent calls run one after the other. */
  async pull(): Promise<void> {
    await this.#inOrder(async () => this.#takeInbox());
  }

  /**
   * Takes an input that is in no inbox: the step that it causes accepts it. Resolves with its receipt when that step is
   * durable, and with undefined when the inbox must take it. Undefined at once if the session is not at rest: a step or an
   * effect of it may then depend on inputs that come first.
   * @throws the error of a commit that may have written it
   */
  accept(one: Omit<SessionInput, 'key'>): Promise<InjectReceipt | undefined> | undefined {
    const isReady = this.#direct.isOpen && this.isQuiescent && !isClosedStatus(this.status);
    return isReady ? this.#accept(one) : undefined;
  }

  async #accept({
    input,
    dedupeKey,
  }: Omit<SessionInput, 'key'>): Promise<InjectReceipt | undefined> {
    const { decided } = await this.#inOrder(async () => {
      const place = findInputPlace(this.agent, input.place);
      try {
        if (place === userIn.name) await this.#loadShared();
      } catch {
        // The inbox reports that the store is unavailable, or takes the input.
        return { decided: undefined };
      }
      if (!this.#direct.isOpen) return { decided: undefined };
      const injection = { place, value: input.value, key: dedupeKey, isDirect: true };
      const whenDecided = this.#direct.whenDecided(injection);
      this.#driver.inject(injection);
      return { decided: whenDecided };
    });
    return decided;
  }

  /** Runs what injects inputs, one after the other. The session is not quiescent meanwhile. */
  async #inOrder<T>(inject: () => Promise<T>): Promise<T> {
    this.#pulling++;
    const pulled = this.#pulled.then(inject);
    this.#pulled = pulled.catch(() => {});
    try {
      return await pulled;
    } finally {
      this.#pulling--;
    }
  }

  /** Aborts running effects and commits their steps: see `Driver.close`. */
  async close(graceMs?: number): Promise<void> {
    this.#isClosing = true;
    this.#direct.close();
    await this.#driver.close(graceMs);
    this.#direct.stop();
    this.#attachment?.detach();
  }

  /** Starts no more effects, and waits until the running ones end, but at most so long. `close` must follow. */
  async drain(timeoutMs: number): Promise<void> {
    this.#direct.close();
    await this.#driver.drain(timeoutMs);
  }

  /** True if the session has more to do without an input: an effect to start, or a timer. */
  get hasMore(): boolean {
    return this.#driver.executor.settledNextRunAt !== undefined;
  }

  /** Stops at once and writes nothing more. */
  stop(): void {
    this.#isClosing = true;
    this.#driver.stop();
    this.#direct.stop();
    this.#attachment?.detach();
  }

  #onStopped(error?: unknown): void {
    this.#direct.stop();
    this.#attachment?.detach();
    this.#options.onStopped(error);
  }

  async #takeInbox(): Promise<void> {
    const { store } = this.#options.runtime;
    for (const { inputSeq, input, key } of await store.inbox(this.key, this.#lastInput)) {
      const place = this.#movedInputs?.get(input.place) ?? findInputPlace(this.agent, input.place);
      if (place === userIn.name) await this.#loadShared();
      // Only now: if loading shared state fails, the next pull takes this input.
      this.#lastInput = inputSeq;
      this.#driver.inject({ place, value: input.value, key, inputSeq });
    }
  }

  /** Loads shared state before a message, because an invocation sees shared state as it is when it begins. */
  async #loadShared(): Promise<void> {
    const shared = await this.#options.runtime.store.shared(this.key);
    if (!sameVersions(shared.versions, this.marking.shared))
      this.#driver.appendSystemRecord({ kind: 'loaded', place: state.name, ...shared });
  }

  #createExecutor(marking: Marking, onAbort: (firing: RecordSeq) => void): Executor {
    const { row, agent, interceptor, runtime } = this.#options;
    const { resolveModel, checkQuota } = runtime;
    const currentMarking = (): Marking => executor.marking;
    const host: AgentHost = {
      sessionKey: row.key,
      uncommittedState: new PendingWrites(
        () => mapIn(currentMarking(), state.name),
        (firingId) => currentMarking().firings.has(Number(firingId.slice(row.uid.length + 1))),
      ),
      ...omitUndefined({ resolveModel, interceptCall: interceptor.interceptCall }),
      onCall: this.#usage.onCall,
      services: scopeServices(row.key, runtime.services),
      readMetadata: (invocationId) => this.#readMetadata(currentMarking(), invocationId),
      readPromptFormat: () => readPromptFormat(currentMarking()),
      runChildAgent: async (request) => {
        const metadata = this.#readMetadata(currentMarking(), request.invocationId);
        return runtime.runChild(row.key, { ...request, metadata });
      },
      attachment: this.#attachment,
      countModelCall: async (invocation) => runtime.modelCalls.next(row.key, invocation),
      ...(checkQuota !== undefined && {
        checkQuota: async (model: string) => checkQuota(row.key.userId, model),
      }),
    };
    const executor = new Executor(agent.compiled, marking, {
      toFiringId: (firing) => `${row.uid}/${firing}`,
      onAbort,
      host,
    });
    if (marking.seq === 0) executor.begin(this.#clock.now());
    return executor;
  }

  async #commit(step: Step): Promise<StepOutcome> {
    const direct = step.injected.filter(({ isDirect }) => isDirect === true);
    if (isBeforeInbox(step.injected)) {
      this.#direct.refuse(direct);
      return 'inputs-refused';
    }
    const { agent, row, runtime } = this.#options;
    const { committer, owner } = runtime;
    const { executor } = this.#driver;
    const { marking } = executor;
    const number = this.#head + 1;
    const status = this.#readStatus();
    const events = toLogEvents(step, agent, marking, { ...status, lastSeq: this.#lastSeq });
    const shared = toSharedWrites(step.records, this.#versions);
    const inboxUpTo = step.injected.reduce(
      (last, { inputSeq }) => Math.max(last, inputSeq ?? 0),
      this.#consumed,
    );
    const usage = this.#usage.count(events);
    const settled: SettledStep = {
      key: row.key,
      uid: row.uid,
      owner,
      epoch: row.epoch,
      step: number,
      at: marking.at,
      records: step.records,
      events,
      inboxUpTo,
      summary: toSessionSummary(
        status,
        marking,
        this.#toRuntimeTime(executor.nextRunAt),
        this.#pending,
      ),
      ...omitUndefined({
        accepts: direct.length === 0 ? undefined : direct.flatMap(({ key }) => key ?? []),
        shared,
        usage: usage.length === 0 ? undefined : usage,
        snapshot: number % STEPS_PER_SNAPSHOT === 0 ? toStoredSnapshot(marking) : undefined,
      }),
    };
    const committing = committer
      .commit(settled)
      .then(async (result) => (result.ok ? result : this.#recognizeStep(settled, result)));
    const result = await this.#direct.decide(direct, committing);
    if (!result.ok) {
      // The inbox has an input that came first. If it cannot be read now, a later pull takes it.
      if (result.refused === 'inputs') void this.pull().catch(() => {});
      return OUTCOME_BY_REFUSAL[result.refused];
    }
    this.#head = number;
    this.#lastSeq += events.length;
    this.#consumed = result.inputs?.at(-1) ?? inboxUpTo;
    this.#lastInput = Math.max(this.#lastInput, this.#consumed);
    this.#versions = marking.shared;
    this.#events = events;
    this.#usage.onCommitted(events);
    this.#notifyCalledAgents(events, settled.summary.pending);
    for (const event of events)
      if (event.type === 'turn.started') runtime.modelCalls.begin(row.key, event.invocationId);
    return 'committed';
  }

  /**
   * A step is also stale when an earlier attempt committed it, and the store was then unavailable. Only this owner writes
   * steps under its epoch, so it recognizes such a step. Its inputs are accepted, not repeated.
   */
  async #recognizeStep(
    { key, uid, owner, epoch, step, accepts = [] }: SettledStep,
    refused: FinalCommitResult,
  ): Promise<FinalCommitResult> {
    if (refused.ok || refused.refused !== 'stale' || accepts.length === 0) return refused;
    const { store } = this.#options.runtime;
    try {
      const row = await store.find(key);
      const isOwned = row?.uid === uid && row.owner === owner && row.epoch === epoch;
      if (!isOwned || row.head !== step) return refused;
      const inputs = await Promise.all(accepts.map(async (one) => store.findInput(key, one)));
      const known = inputs.filter((input) => input !== undefined);
      return known.length === accepts.length ? { ok: true, inputs: known } : refused;
    } catch {
      // The inbox recognizes the inputs, or reports that the store is unavailable.
      return refused;
    }
  }

  /** Converts a time of the session's clock to the runtime's clock. */
  #toRuntimeTime(at: number | undefined): number | undefined {
    return at === undefined ? undefined : at - this.#clockSkewMs;
  }

  /** Notifies the agents that this session called, and the session that called it, of a committed step. */
  #notifyCalledAgents(events: readonly LogEvent[], pending: readonly StoredPendingCall[]): void {
    const { calledAgents } = this.#options.runtime;
    const previous = this.#pending;
    this.#pending = pending;
    if (calledAgents === undefined) return;
    const { key } = this;
    const isCalled = isChildSessionId(key.sessionId);
    // Most sessions neither call agents nor are called.
    if (!isCalled && previous.length === 0 && pending.length === 0) return;
    const ended = events.some(({ type }) => type === 'turn.ended');
    const moved = events.findLast(({ type }) => type === 'turn.ended' || type === 'turn.resumed');
    if (moved !== undefined && isCalled) void calledAgents.resumeCaller(key, moved.seq);
    if (ended) void calledAgents.interruptCalled({ key, pending: previous });
    if (events.some(({ type }) => type === 'tool.pending'))
      void calledAgents.resumeSettledCalls({ key, pending });
  }

  #readMessageMetadata(): Pick<ObservedSession, 'traceContext' | 'metadata'> {
    const { invocationId } = this;
    const { traceContext, custom } =
      invocationId === undefined ? {} : this.#readMetadata(this.marking, invocationId);
    return { traceContext, metadata: custom ?? {} };
  }

  #onCommitted(step: Step): void {
    const { interceptor, runtime } = this.#options;
    const resets = toPartialResets(this.#options.row.uid, step.records, this.#events);
    // A committed step proves that the session runs. Only failures before the first one count toward quarantine.
    if (this.#failures > 0) {
      this.#failures = 0;
      void this.#options.runtime.store.recordHydration(this.key, true).catch(() => {});
    }
    runtime.broadcast.publish(
      this.#name,
      resets.length === 0 ? this.#events : [...this.#events, ...resets],
    );
    this.#attachment?.onCommitted(step);
    interceptor.observe?.(
      { key: this.key, step: this.#head, records: step.records, events: this.#events },
      {
        agent: this.agent,
        invocationId: this.invocationId,
        ...this.#readMessageMetadata(),
        log: (from = 0) => this.#options.runtime.store.read(this.key, from),
      },
    );
  }
}

/** True when an input that is in no inbox comes before one of the inbox, which has the lower number. */
function isBeforeInbox(inputs: readonly Injection[]): boolean {
  const first = inputs.findIndex(({ isDirect }) => isDirect === true);
  return first !== -1 && inputs.some(({ inputSeq }, i) => i > first && inputSeq !== undefined);
}

/** A called agent uses the artifacts of the root session. */
export function scopeServices(key: SessionKey, services: ToolServices): ToolServices {
  const { artifacts } = services;
  if (artifacts === undefined || !isChildSessionId(key.sessionId)) return services;
  return { ...services, artifacts: rootSessionArtifacts(artifacts) };
}

function sameVersions(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
