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
  omitTransferBudget,
  targetPlace,
  transferBudget,
  turnBeginning,
  turnStartOutputs,
} from '../../agents/internal.ts';
import { deriveInvocationId } from '../../core/index.ts';
import { all, allOf, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { linkUp } from '../vocabulary/link-places.ts';
import type { Link } from '../vocabulary/link-places.ts';
import { utteranceEnded } from '../vocabulary/reply-places.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

const common = {
  turnPermit,
  sessionPaused,
  sessionQueued,
  sessionFailed,
  answerIn,
} as const;

/** Starts a turn with an utterance, in a session of one agent. */
export function soleSpeechStart(options: { readonly reaskBudget: number }): Net {
  const { reset, give, begin } = turnBeginning(options);
  const start = pure('speech.start', {
    take: { utterance: utteranceEnded, permit: turnPermit },
    unless: [sessionPaused],
    reset,
    give: allOf({ ...give, events: upTo(1, eventOut) }),
    run: ({ utterance: { utterance } }) => {
      const invocationId = deriveInvocationId(utterance);
      return { ...begin(invocationId), events: [{ type: 'turn.started', invocationId }] };
    },
  });
  return net('speech-start', {
    in: { ...common, utteranceEnded },
    out: { turnCurrent, turnBudget, modelRequest, eventOut },
    transitions: [start],
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

  const speech = pure('speech.start', {
    take: { utterance: utteranceEnded, permit: turnPermit },
    unless: [sessionPaused],
    read: { links: all(linkUp, { min: 0 }), conversation },
    reset,
    give: oneOf(alternatives),
    run: ({ utterance: { utterance }, links, conversation: items }) => {
      const invocationId = deriveInvocationId(utterance);
      const events = [{ type: 'turn.started' as const, invocationId }];
      return begin(findAgent(links, items), { said: [], write: undefined, events }, invocationId);
    },
  });

  const message = pure('message.start', {
    take: { message: userIn, permit: turnPermit },
    unless: [sessionPaused],
    read: { links: all(linkUp), conversation },
    reset,
    // Above `turn.start`, below `session.rewind`.
    priority: 0.5,
    give: oneOf(alternatives),
    run: ({ message: input, links, conversation: items }) =>
      begin(findAgent(links, items), turnStartOutputs(input), input.invocationId),
  });

  const transitions = [speech, message].map((one) =>
    maxTransfers === undefined ? omitTransferBudget(one) : one,
  );
  return net('speech-start', {
    in: { ...common, utteranceEnded, userIn, linkUp, conversation },
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
