import { omitUndefined, AUDIBLE_METADATA } from '../../core/internal.ts';
import { toModelAnswer } from '../../agents/internal.ts';
import {
  conversation,
  eventOut,
  sessionPaused,
  turnPermit,
  turnStopping,
} from '../../agents/index.ts';
import type { ModelAnswer } from '../../agents/index.ts';
import type { Part } from '../../core/index.ts';
import { all, allOf, append, each, matching, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { AllOf, AnyPlace, Each, Net, TokenPlace, UpTo } from '../../net/index.ts';
import type { LiveCall } from '../models/live-signal.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import {
  linkBudget,
  linkChanged,
  linkUp,
  linkWanted,
  liveStale,
} from '../vocabulary/link-places.ts';
import type { ActiveReply, DoneReply, ReplyRef, ReplyText } from '../vocabulary/reply-places.ts';
import {
  modelActive,
  playbackEnded,
  playbackMark,
  playQueued,
  playWindow,
  replyAwaited,
  replyBegun,
  replyCalls,
  replyCut,
  replyDone,
  replySegment,
  replyText,
  silenceFirst,
  silenceSecond,
  voiceStopped,
} from '../vocabulary/reply-places.ts';
import { findSpeaker, perSpeaker, speakerKey } from '../vocabulary/speaker.ts';
import type { Speaker } from '../vocabulary/speaker.ts';
import { audibleText, isAudible, joinText, toRest } from './audible-text.ts';
import { certainlyPlayedMs } from './barge-in.ts';
import { interruptedMessage } from './interrupted-message.ts';
import { requestReply } from './reply-request.ts';

/** How many windows of audio may be queued at the client. */
export const PLAY_WINDOWS = 2;
/** What is left of a reply goes before the next turn, and before the session is closed. */
const ABANDON_PRIORITY = 60;

/** Options of the subnet of replies. */
export interface ReplyOptions {
  /** The agents that speak. */
  readonly speakers: readonly Speaker[];
  /** How often a connection may be opened until the next reply is finished. */
  readonly linkBudget: number;
}

type FinishOutputs = Readonly<
  Record<
    string,
    AllOf<{
      readonly response: TokenPlace<ModelAnswer>;
      readonly windows: Each<null, 'queued'>;
      readonly budget: UpTo<null>;
    }>
  >
>;

/** Places that are emptied when a turn is stopped. */
export const replyDiscardable: readonly AnyPlace[] = [
  replyAwaited,
  silenceFirst,
  silenceSecond,
  replySegment,
  replyCalls,
];

/**
 * A reply over the live connection, from the request to the end of its audio. It is a model call in another form: it takes
 * `model.request` while the session has a connection, and gives `model.response`, so tools, limits and interrupts work as
 * in any turn.
 */
export function replyNet({ speakers, linkBudget: budget }: ReplyOptions): Net {
  const requests = speakers.map((speaker) => requestReply(speaker, speakers));

  const begin = pure('reply.begin', {
    take: { begun: replyBegun, awaited: replyAwaited, window: playWindow },
    reset: [silenceFirst, silenceSecond],
    give: oneOf({
      accepted: allOf({ active: modelActive, queued: playQueued, play: playOut }),
      stale: allOf({
        awaited: replyAwaited,
        silence: silenceFirst,
        window: playWindow,
        stale: liveStale,
      }),
    }),
    run: ({ begun: { conn, reply, toMs }, awaited }) =>
      conn === awaited.conn
        ? {
            accepted: {
              active: { ...awaited, reply },
              queued: { reply, window: 0, fromMs: 0, toMs },
              play: { kind: 'play', reply, window: 0, invocationId: awaited.invocationId },
            },
          }
        : { stale: { awaited, silence: null, window: null, stale: { kind: 'begun', reply } } },
  });

  // Nobody asked for it, or no longer.
  const notRequested = pure('reply.not-requested', {
    take: { begun: replyBegun },
    // An utterance that has just ended asks first.
    unless: [replyAwaited, replyCut, voiceStopped],
    priority: -1,
    give: allOf({ stale: liveStale, command: commandReady }),
    run: ({ begun: { conn, reply } }) => ({
      stale: { kind: 'begun', reply },
      command: { kind: 'cut' as const, conn, reply },
    }),
  });

  const say = pure('reply.say', {
    take: { segment: replySegment, window: playWindow },
    read: { active: modelActive },
    give: oneOf({
      kept: allOf({ queued: playQueued, text: replyText, play: playOut }),
      stale: allOf({ window: playWindow, stale: liveStale }),
    }),
    run: ({ segment: { reply, window, fromMs, toMs, text, playFromMs = fromMs }, active }) =>
      reply === active.reply
        ? {
            kept: {
              queued: { reply, window, fromMs: playFromMs, toMs },
              text: { reply, fromMs, toMs, text },
              play: { kind: 'play', reply, window },
            },
          }
        : { stale: { window: null, stale: { kind: 'segment', reply } } },
  });

  const sayLate = pure('reply.say-late', {
    take: { segment: replySegment },
    unless: [modelActive, replyBegun],
    priority: -1,
    give: allOf({ stale: liveStale }),
    run: ({ segment: { reply } }) => ({ stale: { kind: 'segment', reply } }),
  });

  const played = pure('playback.played', {
    take: {
      mark: matching(playbackMark, toWindowKey),
      queued: matching(playQueued, toWindowKey),
    },
    give: allOf({ window: playWindow }),
    run: () => ({ window: null }),
  });

  const playedLate = pure('playback.played-late', {
    take: { mark: playbackMark },
    unless: [playQueued],
    give: allOf({}),
    run: () => ({}),
  });

  const finishOutputs: FinishOutputs = perSpeaker(speakers, 'finished', ({ response }) =>
    allOf({ response, windows: each('queued', playWindow), budget: upTo(budget, linkBudget) }),
  );
  // What the model says is over when it was played.
  const finish = pure('reply.finish', {
    take: {
      ended: matching(playbackEnded, toReply),
      done: matching(replyDone, toReply),
      active: matching(modelActive, toReply),
      queued: all(playQueued, { min: 0 }),
      texts: all(replyText, { min: 0 }),
    },
    unless: [replySegment, replyCalls],
    reset: [linkBudget, playbackMark],
    give: oneOf(finishOutputs),
    run: ({ done, active, queued, texts }) => ({
      [speakerKey('finished', speakers, active.agent)]: {
        response: toAnswer(speakers, active, done, texts, []),
        windows: queued.map(() => null),
        budget: Array.from({ length: budget }, () => null),
      },
    }),
  });

  const endedLate = pure('playback.ended-late', {
    take: { ended: playbackEnded },
    unless: [modelActive, replyBegun],
    priority: -1,
    give: allOf({}),
    run: () => ({}),
  });

  const call = pure('reply.call', {
    take: {
      done: replyDone,
      active: modelActive,
      calls: all(replyCalls),
      texts: all(replyText, { min: 0 }),
    },
    unless: [replySegment],
    give: oneOf(perSpeaker(speakers, 'called', ({ response }) => allOf({ response }))),
    run: ({ done, active, calls, texts }) => ({
      [speakerKey('called', speakers, active.agent)]: {
        response: toAnswer(
          speakers,
          active,
          done,
          texts,
          calls.flatMap((one) => (one.reply === active.reply ? one.calls : [])),
        ),
      },
    }),
  });

  const callLate = pure('reply.call-late', {
    take: { calls: replyCalls },
    unless: [modelActive, replyBegun],
    priority: -1,
    give: allOf({ stale: liveStale }),
    run: ({ calls: { reply } }) => ({ stale: { kind: 'call', reply } }),
  });

  const doneLate = pure('reply.done-late', {
    take: { done: replyDone },
    unless: [modelActive, replyBegun],
    priority: -1,
    give: allOf({ stale: liveStale }),
    run: ({ done: { reply } }) => ({ stale: { kind: 'done', reply } }),
  });

  const kept = {
    windows: each('queued', playWindow),
    said: append(conversation),
    events: upTo(1, eventOut),
  } as const;
  const held = {
    queued: all(playQueued, { min: 0 }),
    texts: all(replyText, { min: 0 }),
  } as const;

  // The connection that was to answer is gone: the next one is asked.
  const requeue = pure('reply.requeue', {
    take: { changed: linkChanged, awaited: replyAwaited },
    // A reply of that connection may have begun, and waits for the end of earlier audio.
    reset: [silenceFirst, silenceSecond, replyBegun],
    give: oneOf(perSpeaker(speakers, 'asked', ({ request }) => allOf({ request }))),
    run: ({ awaited: { invocationId, round, agent } }) => ({
      [speakerKey('asked', speakers, agent)]: { request: { invocationId, round } },
    }),
  });

  const lost = pure('reply.lost', {
    take: {
      changed: linkChanged,
      active: modelActive,
      segments: all(replySegment, { min: 0 }),
      ...held,
    },
    // A reply that is complete needs no connection.
    unless: [replyDone],
    reset: [silenceFirst, silenceSecond, replyCalls],
    give: oneOf(perSpeaker(speakers, 'asked', ({ request }) => allOf({ ...kept, request }))),
    run: ({ active, queued, texts, segments }) => {
      const { invocationId, round, agent } = active;
      const all = [...texts, ...segments];
      return {
        [speakerKey('asked', speakers, agent)]: {
          windows: queued.map(() => null),
          // The client has all audio that was released, and plays it.
          ...interruptedMessage(speakers, active, joinText(all), isAudible(all)),
          request: { invocationId, round: round + 1 },
        },
      };
    },
  });

  const settled = pure('link.settled', {
    take: { changed: linkChanged },
    unless: [replyAwaited, modelActive],
    give: allOf({}),
    run: () => ({}),
  });

  // Its turn ended with a fault. What was certainly heard is kept.
  const abandon = pure('reply.abandon', {
    take: { active: modelActive, done: all(replyDone, { min: 0 }), ...held },
    read: { permit: turnPermit },
    reset: [replySegment, replyCalls],
    priority: ABANDON_PRIORITY,
    give: allOf({ ...kept, play: playOut }),
    run: ({ active, done, queued, texts }) => {
      const said = [...texts, ...toRest(active, done)];
      return {
        windows: queued.map(() => null),
        ...interruptedMessage(
          speakers,
          active,
          audibleText(said, certainlyPlayedMs(queued, done)),
          isAudible(said),
        ),
        play: { kind: 'flush' as const, reply: active.reply },
      };
    },
  });

  const abandonCut = pure('reply.abandon-cut', {
    take: { cut: replyCut, texts: all(replyText, { min: 0 }) },
    read: { permit: turnPermit },
    priority: ABANDON_PRIORITY,
    give: allOf({ said: append(conversation), events: upTo(1, eventOut) }),
    run: ({ cut, texts }) =>
      interruptedMessage(speakers, cut, audibleText(texts, cut.playedMs), isAudible(texts)),
  });

  const requestPlaces = perSpeaker(speakers, 'modelRequest', ({ request }) => request);
  return net('reply', {
    in: {
      ...requestPlaces,
      linkUp,
      linkBudget,
      linkChanged,
      replyBegun,
      replySegment,
      replyCalls,
      replyDone,
      replyCut,
      voiceStopped,
      turnPermit,
      turnStopping,
      sessionPaused,
      playbackMark,
      playbackEnded,
      playWindow,
    },
    out: {
      replyAwaited,
      modelActive,
      silenceFirst,
      silenceSecond,
      playQueued,
      playWindow,
      replyText,
      commandReady,
      playOut,
      ...requestPlaces,
      ...perSpeaker(speakers, 'modelResponse', ({ response }) => response),
      ...(speakers.length > 1 && { linkWanted, linkUp }),
      linkBudget,
      liveStale,
      conversation,
      eventOut,
    },
    transitions: [
      ...requests,
      begin,
      notRequested,
      say,
      sayLate,
      played,
      playedLate,
      finish,
      endedLate,
      call,
      callLate,
      doneLate,
      requeue,
      lost,
      settled,
      abandon,
      abandonCut,
    ],
  });
}

function toReply({ reply }: ReplyRef): string {
  return reply;
}

function toWindowKey({
  reply,
  window,
}: {
  readonly reply: string;
  readonly window: number;
}): string {
  return `${reply} ${window}`;
}

function toAnswer(
  speakers: readonly Speaker[],
  { reply, invocationId, round, agent }: ActiveReply,
  done: DoneReply,
  said: readonly ReplyText[],
  calls: readonly LiveCall[],
): ModelAnswer {
  const { finishReason, usage } = done;
  const texts = [...said, ...toRest({ reply }, [done])];
  const text = joinText(texts);
  const parts: readonly Part[] = [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ id, name, args, argsError }) => ({
      functionCall: { id, name, args, ...omitUndefined({ argsError }) },
    })),
  ];
  const metadata = isAudible(texts) ? { [AUDIBLE_METADATA]: 'true' } : undefined;
  return toModelAnswer(
    findSpeaker(speakers, agent).identity,
    { invocationId, round },
    {
      content: { role: 'model', parts },
      finishReason,
      ...omitUndefined({ usage, providerMetadata: metadata }),
    },
  );
}
