import { omitUndefined } from '../core/internal.ts';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { Agent, InterceptedCall } from '../agents/index.ts';
import type { LogEvent, SessionKey } from '../core/index.ts';
import type { JournalRecord } from '../net/index.ts';
import { GenAi, Petrichor } from './attribute-names.ts';
import { callAttributes, invocationAttributes, usageAttributes } from './call-attributes.ts';
import type { TelemetryApi } from './telemetry-api.ts';

type TurnEnded = Extract<LogEvent, { readonly type: 'turn.ended' }>;

/** An event that says that a call waits, and since when. */
export type ParkEvent = Extract<LogEvent, { readonly type: 'tool.call' | 'tool.pending' }>;

export interface InvocationStart {
  readonly api: TelemetryApi;
  readonly tracer: Tracer;
  /** The span that sent its message. */
  readonly parent: Context;
  readonly key: SessionKey;
  readonly invocationId: string;
  /** True if another process started it. */
  readonly resumed: boolean;
  readonly agent: Agent;
}

interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
}

/** The spans of one invocation in this process: the invocation, its agents, their calls, and its commits. */
export class TracedInvocation {
  readonly key: SessionKey;
  readonly invocationId: string;
  readonly #api: TelemetryApi;
  readonly #tracer: Tracer;
  readonly #invocationSpan: OpenSpan;
  readonly #root: Agent;
  readonly #agents = new Map<string, OpenSpan>();
  readonly #calls = new Set<Span>();
  readonly #parkedCalls = new Map<string, ParkEvent>();

  constructor({ api, tracer, parent, key, invocationId, resumed, agent }: InvocationStart) {
    this.#api = api;
    this.#tracer = tracer;
    this.#root = agent;
    this.key = key;
    this.invocationId = invocationId;
    this.#invocationSpan = this.#open('invocation', parent, api.SpanKind.INTERNAL, {
      ...invocationAttributes(key, invocationId),
      ...omitUndefined({ [Petrichor.resumed]: resumed ? true : undefined }),
    });
    this.#openAgent(getAgentName(agent));
  }

  /** Creates spans for agents that started and ended within one step. */
  traceAgents(records: readonly JournalRecord[]): void {
    for (const record of records) {
      if (record.kind === 'fired' && record.t.endsWith('/agent.begin'))
        this.#openAgent(record.t.slice(0, -'/agent.begin'.length));
      if (record.kind !== 'fired' && record.kind !== 'ended') continue;
      for (const [place] of record.give ?? []) {
        if (place.startsWith('done/')) this.#endAgent(place.slice('done/'.length));
      }
    }
  }

  /** Creates the span of a committed step, from settling until now. */
  traceCommit(step: number, records: readonly JournalRecord[], events: number): void {
    const settledAt = Math.min(records.at(-1)?.at ?? Date.now(), Date.now());
    const attributes = {
      [Petrichor.step]: step,
      [Petrichor.records]: records.length,
      [Petrichor.events]: events,
    };
    this.#tracer
      .startSpan('commit', { startTime: settledAt, attributes }, this.#invocationSpan.context)
      .end();
  }

  /** Marks a call as waiting. A further event about a waiting call changes nothing. */
  park(call: ParkEvent): void {
    if (!this.#parkedCalls.has(call.callId)) this.#parkedCalls.set(call.callId, call);
  }

  /** Removes a waiting call and returns the event that announced it, if this process saw it. */
  unpark(callId: string): ParkEvent | undefined {
    const parking = this.#parkedCalls.get(callId);
    this.#parkedCalls.delete(callId);
    return parking;
  }

  /** Creates the span of a call that waited until `until`, in epoch milliseconds. */
  tracePark(
    { callId, name, at }: ParkEvent,
    { until, decision }: { readonly until: number; readonly decision: string },
  ): void {
    const attributes = {
      [GenAi.toolCallId]: callId,
      [GenAi.toolName]: name,
      [Petrichor.decision]: decision,
    };
    this.#tracer
      .startSpan(`park ${name}`, { startTime: at, attributes }, this.#invocationSpan.context)
      .end(until);
  }

  /** Opens the span of a call. Close it when the call ends. */
  beginCall(call: InterceptedCall): OpenSpan {
    const { name, api } = { ...call, api: this.#api };
    const parent = this.#openAgent(call.agentName ?? getAgentName(this.#root)).context;
    const attributes = callAttributes(call);
    const opened =
      call.kind === 'model'
        ? this.#open(
            `chat ${String(attributes[GenAi.requestModel])}`,
            parent,
            api.SpanKind.CLIENT,
            attributes,
          )
        : this.#open(`execute_tool ${name}`, parent, api.SpanKind.INTERNAL, attributes);
    this.#calls.add(opened.span);
    return opened;
  }

  endCall(span: Span): void {
    this.#calls.delete(span);
    span.end();
  }

  /** Ends the invocation's span and all spans in it. */
  end({ stopReason, usage }: TurnEnded): void {
    const { span } = this.#invocationSpan;
    span.setAttributes({
      [Petrichor.stopReason]: stopReason,
      ...(usage !== undefined && usageAttributes(usage)),
    });
    if (stopReason === 'error' || stopReason === 'retries_exhausted')
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: stopReason });
    this.#endAll();
  }

  /** Ends the spans of an invocation that continues elsewhere, or not at all. */
  abandon(): void {
    for (const span of this.#calls) span.setAttribute(Petrichor.left, true);
    this.#invocationSpan.span.setAttribute(Petrichor.left, true);
    this.#endAll();
  }

  #endAll(): void {
    for (const span of this.#calls) span.end();
    this.#calls.clear();
    for (const { span } of [...this.#agents.values()].toReversed()) span.end();
    this.#agents.clear();
    this.#invocationSpan.span.end();
  }

  /** Returns the agent's open span. Opens it, and those of the agents that contain it, if necessary. */
  #openAgent(name: string): OpenSpan {
    const open = this.#agents.get(name);
    if (open !== undefined) return open;
    const [agent, ...around] = findAgentPath(name, this.#root).toReversed();
    const parent =
      around[0] === undefined ? this.#invocationSpan : this.#openAgent(getAgentName(around[0]));
    const description = agent?.description ?? '';
    const opened = this.#open(`invoke_agent ${name}`, parent.context, this.#api.SpanKind.INTERNAL, {
      [GenAi.operationName]: 'invoke_agent',
      [GenAi.agentName]: name,
      [GenAi.conversationId]: this.key.sessionId,
      ...omitUndefined({ [GenAi.agentDescription]: description !== '' ? description : undefined }),
    });
    this.#agents.set(name, opened);
    return opened;
  }

  #endAgent(name: string): void {
    this.#agents.get(name)?.span.end();
    this.#agents.delete(name);
  }

  #open(name: string, parent: Context, kind: number, attributes: Attributes): OpenSpan {
    const span = this.#tracer.startSpan(name, { kind, attributes }, parent);
    return { span, context: this.#api.trace.setSpan(parent, span) };
  }
}

/** Returns the agents from the root to the named one; empty if the agent is not below the root. */
function findAgentPath(name: string, from: Agent): readonly Agent[] {
  if (getAgentName(from) === name) return [from];
  for (const sub of from.role.subAgents) {
    const found = findAgentPath(name, sub);
    if (found.length > 0) return [from, ...found];
  }
  return [];
}

function getAgentName({ name, author: speaker }: Agent): string {
  return speaker ?? name;
}
