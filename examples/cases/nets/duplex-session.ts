import { allOf, compose, initialToken, pure, running } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { BARGE_IN_PRIORITY, bargeIn } from './duplex/barge-in.ts';
import { liveApiRecovery } from './duplex/live-api-recovery.ts';
import { llmStreamingStep } from './duplex/llm-streaming-step.ts';
import type { StreamingServices } from './duplex/llm-streaming-step.ts';
import {
  bargeOut,
  chunkBudget,
  liveIn,
  recoveryOut,
  replyAwaited,
  silenceFirst,
  silenceSecond,
  speechOut,
  staleOut,
  toolAsked,
  toolOut,
  utteranceEnded,
  utteranceFresh,
  voiceStarted,
  voiceStopped,
} from './duplex/places.ts';
import { vad } from './duplex/vad.ts';

const CHUNKS_AT_ONCE = 2;

/**
 * A conversation in which both sides may speak at any time: voice detection, the model's stream, barge-in and recovery
 * from silence, each a net of its own, joined by the places they share.
 */
export function duplexSession(services: StreamingServices): Net {
  const { net: streaming, ask, play, runTool } = llmStreamingStep(services);

  // Whatever the last utterance still had under way is of no use to the new one.
  const reset = pure('utterance.reset', {
    take: { fresh: utteranceFresh },
    reset: [
      utteranceEnded,
      running(ask),
      replyAwaited,
      silenceFirst,
      silenceSecond,
      toolAsked,
      running(runTool),
    ],
    give: allOf({}),
    priority: BARGE_IN_PRIORITY,
    run: () => ({}),
  });

  return compose('duplex-session', {
    in: { voiceStarted, voiceStopped, liveIn },
    out: { speechOut, toolOut, staleOut, bargeOut, recoveryOut },
    nets: [vad(), streaming, bargeIn({ play }), liveApiRecovery()],
    transitions: [reset],
    initial: [initialToken(chunkBudget, null, CHUNKS_AT_ONCE)],
  });
}
