import { all, allOf, effect, net, oneOf, optional, pure, running } from 'petrichor/net';
import type { Effect, Net } from 'petrichor/net';
import {
  chunkBudget,
  chunkReady,
  liveFresh,
  liveIn,
  modelActive,
  replyAwaited,
  replyDone,
  silenceFirst,
  silenceSecond,
  speechOut,
  staleOut,
  toolAsked,
  toolOut,
  utteranceEnded,
} from './places.ts';

export interface StreamingServices {
  /** Tells the live connection that the user is done and a reply is wanted. */
  readonly ask: (utterance: string, signal: AbortSignal) => Promise<void>;
  readonly play: (chunk: string, signal: AbortSignal) => Promise<void>;
  readonly runTool: (call: string, signal: AbortSignal) => Promise<string>;
}

export interface StreamingStep {
  readonly net: Net;
  readonly ask: Effect;
  readonly play: Effect;
  readonly runTool: Effect;
}

/**
 * A reply, from the question to its last chunk. Messages come from outside, late ones too: only those of the reply that
 * is awaited or under way are heard. No more chunks play at once than there are permits.
 */
export function llmStreamingStep(services: StreamingServices): StreamingStep {
  const ask = effect('model.call', {
    take: { utterance: utteranceEnded },
    give: allOf({ awaited: replyAwaited, silence: silenceFirst }),
    // A question that does not get through is silence: recovery is for that.
    failed: (_, { utterance }) => ({ awaited: utterance, silence: utterance }),
    run: async ({ utterance }, { signal }) => {
      await services.ask(utterance, signal);
      return { awaited: utterance, silence: utterance };
    },
  });

  const hear = pure('reply.hear', {
    take: { message: liveIn, awaited: replyAwaited },
    give: oneOf({
      begun: allOf({ active: modelActive, fresh: liveFresh }),
      stale: allOf({ awaited: replyAwaited, stale: staleOut }),
    }),
    run: ({ message, awaited }) =>
      message.reply === awaited
        ? { begun: { active: awaited, fresh: message } }
        : { stale: { awaited, stale: message } },
  });

  const hearMore = pure('reply.hear-more', {
    take: { message: liveIn },
    read: { active: modelActive },
    give: oneOf({ fresh: liveFresh, stale: staleOut }),
    run: ({ message, active }) =>
      message.reply === active ? { fresh: message } : { stale: message },
  });

  const drop = pure('live.drop', {
    take: { message: liveIn },
    // While the question is on its way its reply may be faster than the word that it arrived.
    unless: [replyAwaited, modelActive, running(ask)],
    give: allOf({ stale: staleOut }),
    run: ({ message }) => ({ stale: message }),
  });

  const route = pure('live.route', {
    take: { message: liveFresh },
    // The model speaks: the silence is over, and so is what was to be done about it.
    reset: [silenceFirst, silenceSecond],
    give: oneOf({ chunk: chunkReady, tool: toolAsked, done: replyDone }),
    priority: 1,
    run: ({ message: { kind, data } }) =>
      kind === 'chunk' ? { chunk: data } : kind === 'tool' ? { tool: data } : { done: null },
  });

  const play = effect('chunk.play', {
    take: { chunk: chunkReady, permit: chunkBudget },
    give: allOf({ permit: chunkBudget, played: optional(speechOut) }),
    failed: () => ({ permit: null }),
    run: async ({ chunk }, { signal }) => {
      await services.play(chunk, signal);
      return { permit: null, played: chunk };
    },
  });

  const runTool = effect('tool.run', {
    take: { call: toolAsked },
    give: allOf({ result: toolOut }),
    failed: ({ message }, { call }) => ({ result: `${call}: ${message}` }),
    run: async ({ call }, { signal }) => ({ result: await services.runTool(call, signal) }),
  });

  const finish = pure('reply.finish', {
    take: { done: all(replyDone), active: modelActive },
    unless: [liveFresh, chunkReady, running(play), toolAsked, running(runTool)],
    give: allOf({}),
    run: () => ({}),
  });

  return {
    ask,
    play,
    runTool,
    net: net('llm-streaming-step', {
      in: { utteranceEnded, liveIn, chunkBudget, silenceSecond },
      out: {
        replyAwaited,
        silenceFirst,
        modelActive,
        liveFresh,
        chunkReady,
        toolAsked,
        replyDone,
        speechOut,
        toolOut,
        staleOut,
      },
      transitions: [ask, hear, hearMore, drop, route, play, runTool, finish],
    }),
  };
}
