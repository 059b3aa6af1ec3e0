import {
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionFailed,
  sessionPaused,
  sessionQueued,
  sessionWrite,
  turnBudget,
  turnCurrent,
  turnPermit,
  userIn,
} from '../../agents/index.ts';
import type { ConversationItem } from '../../agents/index.ts';
import {
  chooseEntryAgent,
  multiAgentTurnBeginning,
  newTurn,
  omitTransferBudget,
  targetPlace,
  transferBudget,
  turnBeginning,
  turnStartOutputs,
} from '../../agents/internal.ts';
import { deriveInvocationId } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { linkCalled, linkUp } from '../vocabulary/link-places.ts';
import type { CallSettings, Link } from '../vocabulary/link-places.ts';
import {
  modelActive,
  replyAwaited,
  replyCut,
  silenceFirst,
  utteranceEnded,
  voiceOpen,
  voiceStopped,
} from '../vocabulary/reply-places.ts';
import type { SpeechEdge } from '../vocabulary/reply-places.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

const common = {
  turnPermit,
  sessionPaused,
  sessionQueued,
  sessionFailed,
  answerIn,
  voiceStopped,
  voiceOpen,
  utteranceEnded,
  linkUp,
  linkCalled,
} as const;

/** What starts a spoken turn: the end of speech, or an utterance that has waited for the end of another turn. */
const edgeTaken = {
  take: { edge: voiceStopped, utterance: voiceOpen, permit: turnPermit },
  unless: [sessionPaused, utteranceEnded],
} as const;
const utteranceTaken = {
  take: { utterance: utteranceEnded, permit: turnPermit },
  unless: [sessionPaused],
} as const;

const callRead = {
  links: all(linkUp, { min: 0 }),
  calls: all(linkCalled, { min: 0 }),
} as const;

interface StartTokens {
  readonly utterance: SpeechEdge;
  readonly links: readonly Link[];
  readonly calls: readonly (CallSettings | null)[];
}

/**
 * Starts a turn with an utterance, in a session of one agent. The model that has heard it replies by itself, so the reply
 * is awaited at once. Without that connection, or with callbacks before the model, the model is asked.
 */
export function soleSpeechStart(
  { request }: Pick<Speaker, 'request'>,
  options: { readonly reaskBudget: number },
): Net {
  const { reset, give, begin } = turnBeginning(options);
  const { request: requested, ...begun } = give;
  const events = upTo(1, eventOut);
  const hasCallbacks = request.name !== requested.name;
  const start = {
    reset,
    read: callRead,
    give: oneOf({
      requested: allOf({ ...begun, request: requested, events }),
      ...(!hasCallbacks && {
        awaited: allOf({ ...begun, awaited: replyAwaited, silence: silenceFirst, events }),
      }),
    }),
    run: ({ utterance: { utterance }, links: [link], calls: [call] }: StartTokens) => {
      const invocationId = deriveInvocationId(utterance);
      const { request: asked, ...turn } = begin(invocationId, call?.runConfig);
      const started = {
        ...turn,
        events: [{ type: 'turn.started' as const, invocationId }],
      };
      if (hasCallbacks || link === undefined || !utterance.startsWith(`${link.conn}/`))
        return { requested: { ...started, request: asked } };
      const { conn, agent } = link;
      const awaited = { conn, invocationId, round: asked.round, ...omitUndefined({ agent }) };
      return { awaited: { ...started, awaited, silence: null } };
    },
  };
  // Nothing of the last reply is left when the permit is free again.
  const replying = [replyAwaited, modelActive, replyCut];
  return net('speech-start', {
    in: { ...common, replyAwaited, modelActive, replyCut },
    out: { turnCurrent, turnBudget, modelRequest, replyAwaited, silenceFirst, eventOut },
    transitions: [
      pure('speech.start', {
        ...start,
        ...edgeTaken,
        unless: [...edgeTaken.unless, ...replying],
      }),
      pure('speech.start-late', {
        ...start,
        ...utteranceTaken,
        unless: [...utteranceTaken.unless, ...replying],
      }),
    ],
  });
}

/**
 * Starts a turn in a session of several agents: the agent of the open connection gets it, because only its model has the
 * speech. A message goes to the same agent, so that typing does not change who one speaks with.
 */
export function sharedSpeechStart(speakers: readonly Speaker[], maxTransfers?: number): Net {
  const names = speakers.map(({ identity }) => identity.agentName);
  const { reset, alternatives, begin } = multiAgentTurnBeginning(names, maxTransfers);
  const findAgent = (links: readonly Link[], items: readonly ConversationItem[]): string =>
    links[0]?.agent ?? chooseEntryAgent(names, items);

  const speech = {
    read: { ...callRead, conversation },
    reset,
    give: oneOf(alternatives),
    run: ({
      utterance: { utterance },
      links,
      calls: [call],
      conversation: items,
    }: StartTokens & { readonly conversation: readonly ConversationItem[] }) => {
      const invocationId = deriveInvocationId(utterance);
      const events = [{ type: 'turn.started' as const, invocationId }];
      const turn = newTurn(invocationId, call?.runConfig);
      return begin(findAgent(links, items), { turn, said: [], write: undefined, events });
    },
  };

  const message = pure('message.start', {
    take: { message: userIn, permit: turnPermit },
    unless: [sessionPaused],
    read: { links: all(linkUp), conversation },
    reset,
    // Above `turn.start`, below `session.rewind`.
    priority: 0.5,
    give: oneOf(alternatives),
    run: ({ message: input, links, conversation: items }) =>
      begin(findAgent(links, items), turnStartOutputs(input)),
  });

  const transitions = [
    pure('speech.start', { ...speech, ...edgeTaken }),
    pure('speech.start-late', { ...speech, ...utteranceTaken }),
    message,
  ].map((one) => (maxTransfers === undefined ? omitTransferBudget(one) : one));
  return net('speech-start', {
    in: { ...common, userIn, conversation },
    out: {
      ...Object.fromEntries(names.map((name) => [`target/${name}`, targetPlace(name)])),
      ...(maxTransfers !== undefined && { transferBudget }),
      turnCurrent,
      conversation,
      sessionWrite,
      eventOut,
    },
    transitions,
  });
}
