import type { Content, Json, JsonObject, Part } from '../../../core/index.ts';
import type { SessionUpdate } from '../session-update.ts';
import type { ClientMessage } from './run-input.ts';
import { toThoughtId } from './thought-id.ts';

/** Where an update is in the conversation. */
export interface MessagePosition {
  /** The last message of the agent that makes a call. */
  readonly parentMessageId?: string | undefined;
  /** More members of the message: who speaks. */
  readonly fields?: JsonObject;
}

interface Entry {
  readonly invocationId: string;
  readonly message: JsonObject & { readonly id: string };
}

/** The conversation of a session as the messages of AG-UI, with the ids that its events have in a stream. */
export class MessageHistory {
  #entries: Entry[] = [];
  #ids = new Set<string>();

  apply(update: SessionUpdate, { parentMessageId, fields = {} }: MessagePosition): void {
    switch (update.type) {
      case 'user.message':
        return this.#add(update.invocationId, {
          id: update.messageId,
          role: 'user',
          content: toContent(update.content),
        });
      case 'agent.message':
        return this.#addAnswer(update, fields);
      case 'tool.call':
        return this.#addCall(update, parentMessageId ?? update.callId, fields);
      case 'tool.result':
        return this.#add(update.invocationId, {
          id: `${update.callId}-result`,
          role: 'tool',
          toolCallId: update.callId,
          content: JSON.stringify(update.response),
          ...fields,
        });
      case 'event.appended':
        return this.#addAppended(update);
      case 'session.rewound': {
        const first = this.#entries.findIndex(
          ({ invocationId }) => invocationId === update.beforeInvocationId,
        );
        if (first === -1) return;
        this.#entries = this.#entries.slice(0, first);
        this.#ids = new Set(this.#entries.map(({ message }) => message.id));
        return;
      }
      default:
    }
  }

  /**
   * All messages. Of the client's messages, those that the session does not keep are kept: instructions before the
   * conversation, and messages of the user that wait for their turn after it.
   */
  toMessages(sent: readonly ClientMessage[]): readonly JsonObject[] {
    const unknown = (roles: readonly string[]): readonly JsonObject[] =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages of a JSON body
      sent.filter(
        ({ id, role }) => roles.includes(role) && !this.#ids.has(id),
      ) as unknown as readonly JsonObject[];
    return [
      ...unknown(['system', 'developer']),
      ...this.#entries.map(({ message }) => message),
      ...unknown(['user']),
    ];
  }

  /** Whether a message is missing from those of a client. Thoughts may be absent. */
  isMissingFrom(sent: readonly ClientMessage[]): boolean {
    const ids = new Set(sent.map(({ id }) => id));
    return this.#entries.some(({ message: { id, role } }) => role !== 'reasoning' && !ids.has(id));
  }

  /** A message that the history has is not added again. */
  #add(invocationId: string, message: Entry['message']): void {
    if (this.#ids.has(message.id)) return;
    this.#ids.add(message.id);
    this.#entries.push({ invocationId, message });
  }

  #addAnswer(
    {
      invocationId,
      messageId,
      content,
    }: Extract<SessionUpdate, { readonly type: 'agent.message' }>,
    fields: JsonObject,
  ): void {
    const thoughts = joinText(content, true);
    if (thoughts !== '')
      this.#add(invocationId, {
        id: toThoughtId(messageId),
        role: 'reasoning',
        content: thoughts,
        ...fields,
      });
    const text = joinText(content, false);
    if (text !== '')
      this.#add(invocationId, { id: messageId, role: 'assistant', content: text, ...fields });
  }

  /** A call is a part of the message that made it. A message without text exists only for its calls. */
  #addCall(
    { invocationId, callId, name, args }: Extract<SessionUpdate, { readonly type: 'tool.call' }>,
    messageId: string,
    fields: JsonObject,
  ): void {
    const call = {
      id: callId,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    };
    const index = this.#entries.findLastIndex(({ message }) => message.id === messageId);
    const message = this.#entries[index]?.message;
    if (message === undefined)
      return this.#add(invocationId, {
        id: messageId,
        role: 'assistant',
        toolCalls: [call],
        ...fields,
      });
    const { toolCalls } = message;
    const calls = [...(Array.isArray(toolCalls) ? toolCalls : []), call];
    this.#entries[index] = { invocationId, message: { ...message, toolCalls: calls } };
  }

  #addAppended({
    event: { id, author, content },
    invocationId,
  }: Extract<SessionUpdate, { readonly type: 'event.appended' }>): void {
    if (content === undefined) return;
    const text = joinText(content, false);
    if (author === 'user')
      this.#add(invocationId, { id, role: 'user', content: toContent(content) });
    else if (text !== '') this.#add(invocationId, { id, role: 'assistant', content: text });
  }
}

function joinText({ parts }: Content, isThought: boolean): string {
  return parts
    .map((part) => ('text' in part && (part.thought === true) === isThought ? part.text : ''))
    .join('');
}

/** The content of a message of the user: text, or parts if it has files. */
function toContent(content: Content): Json {
  return content.parts.every((part) => 'text' in part)
    ? joinText(content, false)
    : content.parts.flatMap(toContentParts);
}

function toContentParts(part: Part): readonly JsonObject[] {
  if ('text' in part) return [{ type: 'text', text: part.text }];
  if ('inlineData' in part) {
    const { data: value, mimeType } = part.inlineData;
    return [{ type: toMediaType(mimeType), source: { type: 'data', value, mimeType } }];
  }
  if ('fileData' in part) {
    const { fileUri: value, mimeType } = part.fileData;
    return [{ type: toMediaType(mimeType), source: { type: 'url', value, mimeType } }];
  }
  return [];
}

function toMediaType(mimeType: string): string {
  const [kind = ''] = mimeType.split('/');
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'document';
}
