import { importOptional } from '../core/internal.ts';
import type { Context, Tracer, TracerProvider } from '@opentelemetry/api';
import type { InterceptedCall } from '../agents/index.ts';
import { formatSessionKey, isPetrichorError, checkOptions, optionTable } from '../core/index.ts';
import type { JsonObject, LogEvent, SessionKey, OptionTable } from '../core/index.ts';
import type { JournalRecord } from '../net/index.ts';
import type { CommittedRecords, Interceptor, ObservedSession } from '../runtime/index.ts';
import { responseAttributes } from './call-attributes.ts';
import { GenAi } from './attribute-names.ts';
import { MissingTelemetryPackageError } from './missing-telemetry-package-error.ts';
import { fromTraceParent, toTraceParent } from './w3c-trace-context.ts';
import { TracedInvocation } from './traced-invocation.ts';
import type { ParkEvent } from './traced-invocation.ts';
import type { TelemetryApi } from './telemetry-api.ts';

/** Options of `openTelemetry`. Without an OpenTelemetry SDK, nothing is recorded and nothing fails. */
export interface TelemetryOptions {
  /** Provides the tracer. Default: the global provider. */
  readonly tracerProvider?: TracerProvider;
}

/** Maximum number of open invocations. Above it, the oldest one is abandoned. */
const MAX_OPEN = 10_000;

/** The options of `openTelemetry`. */
export const TELEMETRY_OPTIONS: OptionTable = optionTable<TelemetryOptions>('openTelemetry', {
  tracerProvider: true,
});

/**
 * Traces sessions with OpenTelemetry. The spans are `invocation`, `invoke_agent`, `chat`, `execute_tool`, `park` and
 * `commit`, named as in the conventions for generative AI. The span that is active when a message is sent is the parent
 * of its invocation. That context is journaled with the message, so the trace continues after a crash, in any process.
 * Pass the result to a runtime or a runner in `interceptors`.
 * @throws MissingTelemetryPackageError if `@opentelemetry/api` is not installed
 */
export async function openTelemetry(options: TelemetryOptions = {}): Promise<Telemetry> {
  checkOptions(TELEMETRY_OPTIONS, options);
  const api: TelemetryApi = await importOptional(
    import('@opentelemetry/api'),
    (cause) => new MissingTelemetryPackageError(cause),
  );
  const provider = options.tracerProvider ?? api.trace;
  return new Telemetry(api, provider.getTracer('petrichor'));
}

/** The spans of sessions. They end with their invocation, or when this object is closed. */
export class Telemetry implements Interceptor, AsyncDisposable {
  readonly #api: TelemetryApi;
  readonly #tracer: Tracer;
  /** By session, because a session runs one invocation at a time. */
  readonly #open = new Map<string, TracedInvocation>();
  readonly #pendingParkSpans = new Set<Promise<void>>();

  /** Use `openTelemetry`. */
  constructor(api: TelemetryApi, tracer: Tracer) {
    this.#api = api;
    this.#tracer = tracer;
  }

  /**
   * Returns the context of the active span. If none is active, creates a span, so that every invocation has a parent.
   */
  readonly propagateContext = (): JsonObject | undefined => {
    const { trace, context, isSpanContextValid, SpanKind } = this.#api;
    const active = trace.getSpanContext(context.active());
    if (active !== undefined && isSpanContextValid(active)) return toTraceParent(active);
    const sent = this.#tracer.startSpan('send', { kind: SpanKind.PRODUCER });
    sent.end();
    // Without an SDK there is no trace to journal.
    return isSpanContextValid(sent.spanContext()) ? toTraceParent(sent.spanContext()) : undefined;
  };

  readonly observe = (committed: CommittedRecords, session: ObservedSession): void => {
    const { key, step, records, events } = committed;
    const name = formatSessionKey(key);
    const [before = [], ...turns] = splitByTurn(records);
    if (isResumed(events, session)) this.#begin(session.invocationId, key, session, true);
    let shown = false;
    const show = (seen: readonly JournalRecord[]): void => {
      const invocation = this.#open.get(name);
      invocation?.traceAgents(seen);
      if (invocation !== undefined && !shown) invocation.traceCommit(step, records, events.length);
      shown ||= invocation !== undefined;
    };
    show(before);
    for (const event of events) {
      if (event.type === 'turn.started') {
        this.#begin(event.invocationId, key, session, false);
        show(turns.shift() ?? []);
      }
      const invocation = this.#open.get(name);
      if (!('invocationId' in event) || event.invocationId !== invocation?.invocationId) continue;
      this.#tracePark(invocation, event, session);
      if (event.type !== 'turn.ended') continue;
      invocation.end(event);
      this.#open.delete(name);
    }
  };

  readonly interceptCall = async <T>(call: InterceptedCall, make: () => Promise<T>): Promise<T> => {
    const invocation = this.#open.get(formatSessionKey(call.sessionKey));
    if (invocation === undefined)
      return this.#api.context.with(this.#parentContext(call.traceContext), make);
    const { span, context } = invocation.beginCall(call);
    try {
      const made = await this.#api.context.with(context, make);
      if (call.kind === 'model') span.setAttributes(responseAttributes(made));
      return made;
    } catch (error) {
      span.setAttribute(GenAi.errorType, getErrorType(error, call));
      const message = error instanceof Error ? error.message : String(error);
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
      throw error;
    } finally {
      invocation.endCall(span);
    }
  };

  /** Waits for spans that are created from the log, for calls that waited while no process ran. */
  async settled(): Promise<void> {
    while (this.#pendingParkSpans.size > 0) await Promise.all(this.#pendingParkSpans);
  }

  /** Ends all open spans. Their sessions may continue in another process. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled();
    for (const invocation of this.#open.values()) invocation.abandon();
    this.#open.clear();
  }

  #begin(invocationId: string, key: SessionKey, session: ObservedSession, resumed: boolean): void {
    const name = formatSessionKey(key);
    const before = this.#open.get(name);
    if (before?.invocationId === invocationId) return;
    before?.abandon();
    const started = {
      api: this.#api,
      tracer: this.#tracer,
      parent: this.#parentContext(session.traceContext),
      key,
      invocationId,
      resumed,
      agent: session.agent,
    };
    this.#open.set(name, new TracedInvocation(started));
    const [oldest] = this.#open;
    if (this.#open.size <= MAX_OPEN || oldest === undefined) return;
    oldest[1].abandon();
    this.#open.delete(oldest[0]);
  }

  #parentContext(traceContext: unknown): Context {
    const { trace, ROOT_CONTEXT } = this.#api;
    const parent = fromTraceParent(this.#api, traceContext);
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  }

  #tracePark(invocation: TracedInvocation, event: LogEvent, session: ObservedSession): void {
    if (isParkEvent(event)) invocation.park(event);
    const decision = getDecision(event);
    if (decision === undefined || !('callId' in event)) return;
    const parking = invocation.unpark(event.callId);
    if (parking !== undefined) invocation.tracePark(parking, { until: event.at, decision });
    else if (event.type === 'tool.answered')
      this.#traceLatePark(invocation, session, event, decision);
  }

  /** Creates the span of a call that started to wait in an earlier process. Its start time comes from the log. */
  #traceLatePark(
    invocation: TracedInvocation,
    { log }: ObservedSession,
    { callId, at: until, seq }: Extract<LogEvent, { readonly type: 'tool.answered' }>,
    decision: string,
  ): void {
    const found = (async (): Promise<void> => {
      let parking: ParkEvent | undefined;
      for await (const event of log()) {
        if (event.seq >= seq) break;
        if (!('callId' in event) || event.callId !== callId) continue;
        if (isParkEvent(event)) parking ??= event;
        else if (event.type === 'tool.answered') parking = undefined;
      }
      if (parking !== undefined) invocation.tracePark(parking, { until, decision });
    })();
    const kept = found.catch(() => {}).finally(() => this.#pendingParkSpans.delete(kept));
    this.#pendingParkSpans.add(kept);
  }
}

/** True if the event means that a call waits from here on. */
function isParkEvent(event: LogEvent): event is ParkEvent {
  return event.type === 'tool.pending' || (event.type === 'tool.call' && event.needs !== 'nothing');
}

/** Returns how a waiting call was answered or ended, if the event says so. */
function getDecision(event: LogEvent): string | undefined {
  if (event.type === 'tool.answered') return event.decision;
  return event.type === 'tool.result' ? event.outcome : undefined;
}

/** True if another process started the running invocation: neither this step nor an earlier one here started it. */
function isResumed(
  events: readonly LogEvent[],
  session: ObservedSession,
): session is ObservedSession & { readonly invocationId: string } {
  const { invocationId } = session;
  return (
    invocationId !== undefined &&
    !events.some((event) => event.type === 'turn.started' && event.invocationId === invocationId)
  );
}

/** Groups the records of a step by turn: first those of the running turn, then those of each new message. */
function splitByTurn(records: readonly JournalRecord[]): readonly (readonly JournalRecord[])[] {
  const turns: JournalRecord[][] = [[]];
  for (const record of records) {
    if (record.kind === 'fired' && record.t === 'turn.start') turns.push([]);
    turns.at(-1)?.push(record);
  }
  return turns;
}

function getErrorType(error: unknown, { signal }: InterceptedCall): string {
  if (signal.aborted) return 'cancelled';
  if (isPetrichorError(error)) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
