import type { Json, JsonObject, LogEvent, LogEventByType, Seq } from '../../../core/index.ts';
import { isJsonObject, sha256Hex } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { formatAdkEventId } from './adk-event-id.ts';

const NANOSECONDS = 1_000_000;

interface OpenSpan {
  readonly id: string;
  readonly name: string;
  readonly from: number;
  readonly parent: string | null;
  readonly attributes: JsonObject;
}

/** The spans of a session, derived from its log: invocations, agents, model calls and tools. They survive a restart. */
export async function readSpans(
  context: ServerContext,
  session: ManagedSession,
): Promise<readonly JsonObject[]> {
  const trace = new TraceFold(session);
  for await (const event of readLog(context, session, 0)) trace.add(event);
  return trace.spans;
}

class TraceFold {
  readonly spans: JsonObject[] = [];
  readonly #session: ManagedSession;
  readonly #invocations = new Map<string, OpenSpan>();
  readonly #agents = new Map<string, OpenSpan>();
  readonly #calls = new Map<string, OpenSpan>();
  /** When the model or the tools of an invocation began, by its last event. */
  readonly #since = new Map<string, number>();

  constructor(session: ManagedSession) {
    this.#session = session;
  }

  add(event: LogEvent): void {
    const invocationId = 'invocationId' in event ? (event.invocationId ?? '') : '';
    switch (event.type) {
      case 'turn.started':
        this.#invocations.set(
          invocationId,
          this.#open(invocationId, 'invocation', event.at, null, {
            'gen_ai.conversation.id': this.#session.id,
            'gcp.vertex.agent.invocation_id': invocationId,
          }),
        );
        break;
      case 'agent.message':
        this.#addModelCall(event);
        break;
      case 'tool.call': {
        const parent = this.#findAgent(event);
        const { callId, name, args, seq } = event;
        this.#calls.set(
          callId,
          this.#open(callId, `execute_tool ${name}`, event.at, parent.id, {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': name,
            'gcp.vertex.agent.tool_call_args': JSON.stringify(args),
            'gcp.vertex.agent.event_id': formatAdkEventId(this.#session.id, seq),
            ...this.#own(invocationId),
          }),
        );
        break;
      }
      case 'tool.result': {
        const span = this.#calls.get(event.callId);
        this.#calls.delete(event.callId);
        if (span !== undefined)
          this.#close(span, event.at, {
            'gcp.vertex.agent.tool_response': JSON.stringify(event.response),
            'gcp.vertex.agent.event_id': formatAdkEventId(this.#session.id, event.seq),
          });
        break;
      }
      case 'turn.ended':
      case 'turn.waiting':
        for (const [key, agent] of this.#agents)
          if (key.startsWith(`${invocationId} `)) {
            this.#close(agent, event.at);
            this.#agents.delete(key);
          }
        if (event.type === 'turn.ended') {
          const span = this.#invocations.get(invocationId);
          if (span !== undefined) this.#close(span, event.at);
          this.#invocations.delete(invocationId);
        }
        break;
      default:
    }
    this.#since.set(invocationId, event.at);
  }

  #addModelCall(event: LogEventByType<'agent.message'>): void {
    const { invocationId, seq, at, content, usage, finishReason } = event;
    const agent = this.#findAgent(event);
    const parts: Json = content.parts.map((part) => ({ ...part }));
    const span = this.#open(`${seq}`, 'call_llm', this.#since.get(invocationId) ?? at, agent.id, {
      'gen_ai.operation.name': 'generate_content',
      'gcp.vertex.agent.event_id': formatAdkEventId(this.#session.id, seq),
      'gcp.vertex.agent.llm_response': JSON.stringify({ content: { role: 'model', parts } }),
      ...(usage !== undefined && {
        'gen_ai.usage.input_tokens': usage.inputTokens,
        'gen_ai.usage.output_tokens': usage.outputTokens,
      }),
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [finishReason] }),
      ...this.#own(invocationId),
    });
    this.#close(span, at);
  }

  #findAgent({
    invocationId,
    author,
    branch,
    at,
  }: LogEventByType<'agent.message' | 'tool.call'>): OpenSpan {
    const key = `${invocationId} ${branch ?? author}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const from = this.#since.get(invocationId) ?? at;
    const parent = this.#invocations.get(invocationId)?.id ?? null;
    const span = this.#open(`${key} ${from}`, `invoke_agent ${author}`, from, parent, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': author,
      'gen_ai.conversation.id': this.#session.id,
      ...this.#own(invocationId),
    });
    this.#agents.set(key, span);
    return span;
  }

  #own(invocationId: string): JsonObject {
    return {
      'gcp.vertex.agent.invocation_id': invocationId,
      'gcp.vertex.agent.session_id': this.#session.id,
    };
  }

  #open(
    key: string,
    name: string,
    from: number,
    parent: string | null,
    attributes: JsonObject,
  ): OpenSpan {
    const id = sha256Hex(`${this.#session.uid} ${name} ${key}`).slice(0, 16);
    return { id, name, from, parent, attributes };
  }

  #close(
    { id, name, from, parent, attributes }: OpenSpan,
    to: number,
    more: JsonObject = {},
  ): void {
    const invocation = attributes['gcp.vertex.agent.invocation_id'];
    const turn = typeof invocation === 'string' ? invocation : '';
    this.spans.push({
      name,
      span_id: id,
      trace_id: sha256Hex(`${this.#session.uid} ${turn}`).slice(0, 32),
      start_time: from * NANOSECONDS,
      end_time: to * NANOSECONDS,
      parent_span_id: parent,
      attributes: { ...attributes, ...more },
    });
  }
}

/** The attributes of the span of a log entry, with the request of its model call. Undefined: no span has the entry. */
export async function readEventSpan(
  context: ServerContext,
  session: ManagedSession,
  seq: Seq,
): Promise<JsonObject | undefined> {
  const eventId = formatAdkEventId(session.id, seq);
  const spans = await readSpans(context, session);
  const attributes = spans
    .map((span) => span['attributes'])
    .find((one) => isJsonObject(one) && one['gcp.vertex.agent.event_id'] === eventId);
  if (!isJsonObject(attributes)) return undefined;
  const request = await findModelRequest(context, session, seq);
  return {
    ...attributes,
    ...(request !== undefined && { 'gcp.vertex.agent.llm_request': request }),
  };
}

/** The request of the model call that ended in the step of a log entry, as JSON. */
async function findModelRequest(
  context: ServerContext,
  session: ManagedSession,
  seq: Seq,
): Promise<string | undefined> {
  const inspection = await context.runtime.inspect(toSessionRef(session));
  let step: number | undefined;
  for await (const point of inspection.forkPoints(seq - 1)) {
    ({ step } = point);
    if (point.upTo >= seq) break;
  }
  for await (const { step: own, firing, transition, kind } of inspection.records(0, {
    values: 'none',
  })) {
    if (own !== step || firing === undefined || kind !== 'ended') continue;
    if (transition === undefined || !/model/.test(transition)) continue;
    const { model, request } = await inspection.modelRequest(firing);
    return JSON.stringify({ model, ...request });
  }
  return undefined;
}
