import { omitUndefined } from '../../core/internal.ts';
import { noUsage } from '../../core/index.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
import type { IncomingMessage } from '../vocabulary/messages.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import type { CurrentTurn } from '../vocabulary/turn.ts';

/** A turn that begins. `runConfig` is that of a turn that no message starts. */
export function newTurn(invocationId: string, runConfig?: JsonObject): CurrentTurn {
  return { invocationId, round: 0, usage: noUsage, ...omitUndefined({ runConfig }) };
}

/** The outputs of every start of a turn with a message: the turn, the message for the conversation, its state write and its events. */
export function turnStartOutputs(message: IncomingMessage): {
  readonly turn: CurrentTurn;
  readonly said: readonly ConversationItem[];
  readonly write: SessionWrite | undefined;
  readonly events: readonly LogEntry[];
} {
  const { invocationId, content, stateDelta = {}, metadata } = message;
  return {
    turn: newTurn(invocationId),
    said: [{ invocationId, content, ...omitUndefined({ metadata }) }],
    write:
      Object.keys(stateDelta).length === 0
        ? undefined
        : { writes: { set: stateDelta }, invocationId, author: 'user' },
    events: [userMessageEvent(message), { type: 'turn.started', invocationId }],
  };
}

/** The `user.message` event of a message. It is also logged when the start of its turn fails. */
export function userMessageEvent({ messageId, invocationId, content }: IncomingMessage): LogEntry {
  return { type: 'user.message', author: 'user', invocationId, messageId, content };
}
