import { conversation, eventOut, toolBatch } from '../../agents/index.ts';
import { pendingContent } from '../../agents/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import { deriveInvocationId } from '../../core/index.ts';
import { all, allOf, append, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { linkUp, liveStale } from '../vocabulary/link-places.ts';
import type { Link } from '../vocabulary/link-places.ts';
import { utteranceTranscript } from '../vocabulary/reply-places.ts';
import { SPEECH_METADATA } from '../vocabulary/speech-metadata.ts';
import type { Transcript } from '../vocabulary/reply-places.ts';
import { perSpeaker } from '../vocabulary/speaker.ts';
import type { Speaker } from '../vocabulary/speaker.ts';
import { sharedSpeechStart, soleSpeechStart } from './speech-start.ts';

/** Options of the subnet of spoken turns. */
export interface SpeechTurnOptions {
  readonly speakers: readonly Speaker[];
  /** How often the model may be called again after tools, in one turn. For a session of one agent. */
  readonly reaskBudget: number;
  /** The most transfers of one turn. Default: the agents cannot transfer. */
  readonly maxTransfers?: number | undefined;
}

/**
 * Starts a turn with an utterance, as `turn.start` does with a message: both take the one permit. The transcript of the
 * utterance follows when it arrives.
 */
export function speechTurnNet({ speakers, reaskBudget, maxTransfers }: SpeechTurnOptions): Net {
  const [first, second] = speakers;
  const starts =
    first !== undefined && second === undefined
      ? soleSpeechStart(first, { reaskBudget })
      : sharedSpeechStart(speakers, maxTransfers);
  const batches = perSpeaker(speakers, 'batch', ({ scoped }) => scoped(toolBatch));

  const transcribe = pure('speech.transcribe', {
    take: { transcript: utteranceTranscript },
    read: {
      links: all(linkUp, { min: 0 }),
      // Between a call and its result nothing may stand.
      ...Object.fromEntries(
        Object.entries(batches).map(([key, place]) => [key, all(place, { min: 0 })]),
      ),
    },
    give: oneOf({
      stale: liveStale,
      now: allOf({ said: append(conversation), events: upTo(1, eventOut) }),
      later: allOf({ said: pendingContent, events: upTo(1, eventOut) }),
    }),
    run: ({
      transcript,
      links,
      ...open
    }: {
      readonly transcript: Transcript;
      readonly links: readonly Link[];
      readonly [batch: string]: unknown;
    }) => {
      if (!links.some(({ conn }) => conn === transcript.conn))
        return { stale: { kind: 'transcript' } };
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
          transcript: true as const,
        },
      ];
      return Object.values(open).every((tokens) => Array.isArray(tokens) && tokens.length === 0)
        ? { now: { said: [item], events } }
        : { later: { said: item, events } };
    },
  });

  return net('speech-turn', {
    in: { ...starts.in, utteranceTranscript, ...batches },
    out: { ...starts.out, pendingContent, conversation, liveStale, eventOut },
    transitions: [...starts.transitions, transcribe],
  });
}

function toItem({ conn, utterance, text }: Transcript): ConversationItem {
  return {
    invocationId: deriveInvocationId(utterance),
    content: { role: 'user', parts: [{ text }] },
    metadata: { custom: { [SPEECH_METADATA]: conn } },
  };
}
