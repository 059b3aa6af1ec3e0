import type { EventBlock, SessionEvent } from '../api/types.ts';

/** What the chat shows, in the order of the log. */
export type ChatItem = MessageItem | CallItem | NoticeItem;

/** A message of a person or of the agent. */
export interface MessageItem {
  readonly kind: 'message';
  readonly id: string;
  readonly seq: number;
  readonly from: 'user' | 'agent';
  readonly blocks: readonly EventBlock[];
  readonly at: string | null;
}

/** A call of a tool, from the wish of the model to its result. */
export interface CallItem {
  readonly kind: 'call';
  readonly id: string;
  readonly seq: number;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: string | null;
  readonly asksFirst: boolean;
  /** True: somebody outside gives the result. */
  readonly isExternal: boolean;
  readonly thread: string | undefined;
  readonly decision: CallDecision | undefined;
  readonly result: CallResult | undefined;
}

export interface CallDecision {
  readonly result: 'allow' | 'deny';
  readonly message: string | undefined;
  readonly at: string | null;
}

export interface CallResult {
  readonly blocks: readonly EventBlock[];
  readonly isError: boolean;
  readonly at: string | null;
}

/** A line between messages: the turn was stopped, a model call failed, the session was closed. */
export interface NoticeItem {
  readonly kind: 'notice';
  readonly id: string;
  readonly seq: number;
  readonly tone: 'quiet' | 'bad';
  readonly text: string;
  readonly at: string | null;
}

/** What the log says about the session as a whole, after its last event. */
export interface ChatState {
  readonly items: readonly ChatItem[];
  readonly status: 'idle' | 'running' | 'rescheduling' | 'terminated';
  /** The ids of the calls that wait. */
  readonly waiting: ReadonlySet<string>;
  /** True: earlier events are left out. */
  readonly hasEarlier: boolean;
}

/** Which events a chat is read from: those up to a number of the log, and at most so many. */
export interface ChatRange {
  /** Default: all of them. */
  readonly upToSeq?: number;
  /** Default: all of them. */
  readonly most?: number;
}

/** Reads the chat from the events of a session. */
export function toChat(
  events: readonly SessionEvent[],
  { upToSeq = Infinity, most = Infinity }: ChatRange = {},
): ChatState {
  const end = countUpTo(events, upToSeq);
  const start = Math.max(0, end - most);
  const items = new Map<string, ChatItem>();
  let { status, waiting } = findStatus(events, start);
  const change = (id: string, to: (call: CallItem) => CallItem): void => {
    const found = items.get(id);
    if (found?.kind === 'call') items.set(id, to(found));
  };
  const add = (item: ChatItem): void => void items.set(item.id, item);
  for (const event of events.slice(start, end)) {
    const { id, seq } = event;
    switch (event.type) {
      case 'user.message':
      case 'agent.message':
        add(toMessage(event));
        break;
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use': {
        const { name, input, session_thread_id: thread, processed_at: at } = event;
        const isExternal = event.type === 'agent.custom_tool_use';
        const asksFirst = !isExternal && event.evaluated_permission === 'ask';
        const known = items.get(id);
        const rest = known?.kind === 'call' ? known : { decision: undefined, result: undefined };
        const { decision, result } = rest;
        const fields = { name, input, thread, at, asksFirst, isExternal, decision, result };
        add({ kind: 'call', id, seq, ...fields });
        break;
      }
      case 'user.tool_confirmation': {
        const { result, deny_message, processed_at: at } = event;
        const decision = { result, message: deny_message, at };
        change(event.tool_use_id, (call) => ({ ...call, decision }));
        break;
      }
      case 'agent.tool_result':
      case 'agent.mcp_tool_result':
      case 'user.tool_result':
      case 'user.custom_tool_result': {
        const { content: blocks, is_error: isError, processed_at: at } = event;
        change(findCallId(event), (call) => ({ ...call, result: { blocks, isError, at } }));
        break;
      }
      case 'user.interrupt':
        add({ ...notice('Stopped by you'), id, seq, at: event.processed_at });
        break;
      case 'session.error': {
        const { message: text } = event.error;
        add({ kind: 'notice', tone: 'bad', text, id, seq, at: event.processed_at });
        break;
      }
      case 'user.define_outcome':
        add({ ...notice(`Outcome: ${event.description}`), id, seq, at: event.processed_at });
        break;
      case 'session.status_running':
        status = 'running';
        waiting = new Set();
        break;
      case 'session.status_rescheduled':
        status = 'rescheduling';
        add({ ...notice('The model call is retried'), id, seq, at: event.processed_at });
        break;
      case 'session.status_idle':
        status = 'idle';
        waiting = new Set(
          event.stop_reason.type === 'requires_action' ? event.stop_reason.event_ids : [],
        );
        break;
      case 'session.status_terminated':
        status = 'terminated';
        waiting = new Set();
        add({ ...notice('The session is closed'), id, seq, at: event.processed_at });
        break;
      case 'agent.thinking':
      case 'span.model_request_start':
      case 'span.model_request_end':
      case 'span.outcome_evaluation_start':
      case 'span.outcome_evaluation_end':
      case 'session.deleted':
      default:
        // The timeline shows these, and types of later releases.
        break;
    }
  }
  return { items: [...items.values()], status, waiting, hasEarlier: start > 0 };
}

/** The number of events up to a number of the log. Events are in its order. */
function countUpTo(events: readonly SessionEvent[], upToSeq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.seq ?? 0) <= upToSeq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The status before an event, from the last event that has one. */
function findStatus(
  events: readonly SessionEvent[],
  before: number,
): Pick<ChatState, 'status' | 'waiting'> {
  for (let index = before - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type.startsWith('session.status_') === true) {
      const { status, waiting } = toChat([event]);
      return { status, waiting };
    }
  }
  return { status: 'idle', waiting: new Set() };
}

/** The same event has the same item, so that a page sees that nothing changed. */
const messages = new WeakMap<SessionEvent, MessageItem>();

function toMessage(
  event: Extract<SessionEvent, { readonly type: 'user.message' | 'agent.message' }>,
): MessageItem {
  const known = messages.get(event);
  if (known !== undefined) return known;
  const { id, seq, content: blocks, processed_at: at } = event;
  const from = event.type === 'user.message' ? 'user' : 'agent';
  const item: MessageItem = { kind: 'message', from, blocks, id, seq, at };
  messages.set(event, item);
  return item;
}

function notice(text: string): Pick<NoticeItem, 'kind' | 'tone' | 'text'> {
  return { kind: 'notice', tone: 'quiet', text };
}

/** The id of the event that showed the call of a result. */
function findCallId(
  event: Extract<
    SessionEvent,
    {
      readonly type:
        | 'agent.tool_result'
        | 'agent.mcp_tool_result'
        | 'user.tool_result'
        | 'user.custom_tool_result';
    }
  >,
): string {
  if (event.type === 'agent.mcp_tool_result') return event.mcp_tool_use_id;
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id;
}

/** The text of the blocks of a message. */
export function textIn(blocks: readonly EventBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}
