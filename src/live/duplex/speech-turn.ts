import {
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionFailed,
  sessionPaused,
  sessionQueued,
  toolBatch,
  turnBudget,
  turnCurrent,
  turnPermit,
} from '../../agents/index.ts';
import { pendingContent } from '../../agents/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import { deriveInvocationId, noUsage } from '../../core/index.ts';
import { all, allOf, append, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { utteranceEnded, utteranceTranscript } from '../vocabulary/reply-places.ts';
import { SPEECH_METADATA } from '../vocabulary/speech-metadata.ts';
import type { Transcript } from '../vocabulary/reply-places.ts';

/**
 * Starts a turn with an utterance, as `turn.start` does with a message: both take the one permit. The transcript of the
 * utterance follows when it arrives.
 */
export function speechTurnNet({ reaskBudget }: { readonly reaskBudget: number }): Net {
  const start = pure('speech.start', {
    take: { utterance: utteranceEnded, permit: turnPermit },
    unless: [sessionPaused],
    reset: [turnBudget, answerIn, sessionQueued, sessionFailed],
    give: allOf({
      turn: turnCurrent,
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
      events: upTo(1, eventOut),
    }),
    run: ({ utterance: { utterance } }) => {
      const invocationId = deriveInvocationId(utterance);
      return {
        turn: { invocationId, round: 0, usage: noUsage },
        budget: Array.from({ length: reaskBudget }, () => null),
        request: { invocationId, round: 0 },
        events: [{ type: 'turn.started', invocationId }],
      };
    },
  });

  const transcribe = pure('speech.transcribe', {
    take: { transcript: utteranceTranscript },
    // Between a call and its result nothing may stand.
    read: { batches: all(toolBatch, { min: 0 }) },
    give: oneOf({
      now: allOf({ said: append(conversation), events: upTo(1, eventOut) }),
      later: allOf({ said: pendingContent, events: upTo(1, eventOut) }),
    }),
    run: ({ transcript, batches }) => {
      const item = toItem(transcript);
      const { invocationId, content } = item;
      const messageId = `${transcript.utterance}/${transcript.part}`;
      const events = [
        {
          type: 'user.message' as const,
          author: 'user' as const,
          invocationId,
          messageId,
          content,
        },
      ];
      return batches.length === 0
        ? { now: { said: [item], events } }
        : { later: { said: item, events } };
    },
  });

  return net('speech-turn', {
    in: {
      utteranceEnded,
      utteranceTranscript,
      turnPermit,
      sessionPaused,
      sessionQueued,
      sessionFailed,
      answerIn,
      toolBatch,
    },
    out: { turnCurrent, turnBudget, modelRequest, pendingContent, conversation, eventOut },
    transitions: [start, transcribe],
  });
}

function toItem({ conn, utterance, text }: Transcript): ConversationItem {
  return {
    invocationId: deriveInvocationId(utterance),
    content: { role: 'user', parts: [{ text }] },
    metadata: { custom: { [SPEECH_METADATA]: conn } },
  };
}
