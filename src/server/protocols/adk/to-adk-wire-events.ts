import { toWireEvent } from '../../../adk/internal.ts';
import { AdkEventMapper, createEventActions, toAdkSeconds } from '../../../core/index.ts';
import type { Event, JsonObject, LogEvent, Seq } from '../../../core/index.ts';
import { omitUndefined, toUserInputCall } from '../../../core/internal.ts';
import type { OpenCall } from '../session-update.ts';
import { formatAdkEventId } from './adk-event-id.ts';

/** What the events of a session have in common. */
export interface AdkEventContext {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** The author of events that no agent made. */
  readonly agentName: string;
}

/** Converts the log of a session to the events of ADK's HTTP API. */
export class AdkWireMapper {
  readonly #context: AdkEventContext;
  readonly #events: AdkEventMapper;

  constructor(context: AdkEventContext) {
    this.#context = context;
    this.#events = new AdkEventMapper(context.sessionUid);
  }

  add(event: LogEvent): readonly JsonObject[] {
    return this.#toWire(this.#events.add(event), event.seq);
  }

  /** Returns what is held back, because the turn ended with this entry of the log. */
  endTurn(seq: Seq): readonly JsonObject[] {
    return this.#toWire(this.#events.endTurn(), seq);
  }

  #toWire(events: readonly Event[], seq: Seq): readonly JsonObject[] {
    const { sessionId, agentName } = this.#context;
    const id = formatAdkEventId(sessionId, seq);
    return events.map((event, index) =>
      toWireEvent({ ...event, id: index === 0 ? id : `${id}-${index}` }, agentName),
    );
  }
}

/** The event with which a call waits that may have run: its process died. */
export function toCrashQuestion(
  { callId, name, args }: Pick<OpenCall, 'callId' | 'name' | 'args'>,
  { invocationId, at }: { readonly invocationId: string; readonly at: number },
  { agentName }: AdkEventContext,
): JsonObject {
  const asked = toUserInputCall({ callId, name, args, needs: 'approval' });
  const event: Event = {
    id: `${callId}-crash`,
    timestamp: toAdkSeconds(at),
    invocationId,
    author: agentName,
    ...(asked && {
      content: { role: 'user', parts: [{ functionCall: asked.functionCall }] },
      longRunningToolIds: [asked.functionCall.id],
    }),
    actions: createEventActions(asked?.actions),
  };
  return toWireEvent(event, agentName);
}

/** A piece of text that is being generated. */
export function toPartialEvent(
  {
    messageId,
    invocationId,
    author,
    branch,
    text,
    kind,
  }: {
    readonly messageId: string;
    readonly invocationId: string;
    readonly author: string;
    readonly branch?: string | undefined;
    readonly text: string;
    readonly kind: 'text' | 'thinking';
  },
  at: number,
): JsonObject {
  const part = kind === 'thinking' ? { text, thought: true } : { text };
  return {
    id: `${messageId}-partial`,
    timestamp: toAdkSeconds(at),
    invocationId,
    author,
    ...omitUndefined({ branch }),
    partial: true,
    content: { role: 'model', parts: [part] },
    actions: { ...createEventActions() },
  };
}
