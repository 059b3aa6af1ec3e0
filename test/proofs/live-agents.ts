/** The proofs of the nets of a live session that several agents share. */
import { compose, initialToken } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { modelRequest, modelResponse } from '../../src/agents/index.ts';
import { multiAgentTurnStart } from '../../src/agents/composition/multi-agent-turn-start.ts';
import { scopedPlace } from '../../src/agents/turn/scoped-place.ts';
import { PLAY_WINDOWS, replyNet } from '../../src/live/duplex/reply.ts';
import { speechTurnNet } from '../../src/live/duplex/speech-turn.ts';
import { playWindow } from '../../src/live/vocabulary/reply-places.ts';
import type { Speaker } from '../../src/live/vocabulary/speaker.ts';
import {
  atMost,
  atMostOnce,
  deadlockFree,
  eventOutBounded,
  neverFiresAfter,
  placeBound,
} from '../../src/verify/index.ts';
import {
  readingInstead,
  withChanged,
  withoutInhibitor,
  withoutInput,
  withoutReset,
  withoutTransition,
} from '../cases/net-mutations.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';
import { stock } from './subnets.ts';

const MAX_TRANSFERS = 2;
const names = ['greeter', 'billing'] as const;

function speaker(agentName: string): Speaker {
  const scoped: Speaker['scoped'] = (place) => scopedPlace(agentName, place);
  return {
    identity: { agentName, multiAgent: {} },
    request: scoped(modelRequest),
    response: scoped(modelResponse),
    tools: new Map(),
    scoped,
  };
}

const speakers = names.map(speaker);

const rewind: Net = {
  ...stock.turnControl,
  name: 'rewind',
  transitions: stock.turnControl.transitions.filter(({ name }) => name === 'session.rewind'),
};
const starts: Net = compose('speech-turns', {
  nets: [
    speechTurnNet({ speakers, reaskBudget: 0, maxTransfers: MAX_TRANSFERS }),
    multiAgentTurnStart({ entryAgents: names, maxTransfers: MAX_TRANSFERS }),
    rewind,
  ],
});
const startBounds = {
  environment: {
    'user.in': 1,
    'rewind.in': 1,
    'voice.stopped': 1,
    'voice.open': 1,
    'utterance.ended': 1,
    'utterance.transcript': 1,
    'turn.permit': 2,
    'link.up': 1,
    'answer.in': 0,
    'greeter/tool.batch': 1,
    'billing/tool.batch': 0,
    'session.paused': 0,
    'session.queued': 0,
    'session.failed': 0,
  },
  upTo: MAX_TRANSFERS,
  faults: 0,
};
const speaksTwice = {
  ...startBounds,
  environment: { ...startBounds.environment, 'user.in': 0, 'rewind.in': 0 },
};
const spokenStarts = ['speech.start', 'speech.start-late'];
const oneSpokenTurn = atMost(spokenStarts, 1, { per: 'turn.permit' });
const oneWrittenTurn = atMostOnce('message.start', { per: 'turn.permit' });
const fullBudget = placeBound('turn.transfer-budget', MAX_TRANSFERS);
const rewindsFirst = neverFiresAfter(['message.start', ...spokenStarts], 'rewind.in', {
  until: 'session.rewind',
});
/** A message during a call goes to the agent that the user speaks with. */
const asksTheSpeaker = neverFiresAfter(['turn.start'], 'link.up');

const speechTurnsProof: NetProof = {
  name: 'live speech turns of several agents',
  net: starts,
  claims: [
    {
      properties: [oneWrittenTurn, fullBudget, rewindsFirst, asksTheSpeaker],
      bounds: startBounds,
    },
    { properties: [oneSpokenTurn, fullBudget], bounds: speaksTwice },
  ],
  mutants: [
    {
      that: 'begins a turn with speech without the permit',
      net: withoutInput(starts, 'speech.start', 'permit'),
      property: oneSpokenTurn,
      bounds: speaksTwice,
    },
    {
      that: 'carries the transfers of one turn over to the next',
      net: withoutReset(starts, 'message.start', 'turn.transfer-budget'),
      property: fullBudget,
      bounds: startBounds,
    },
    {
      that: 'answers a message before a rewind that waits',
      net: withChanged(starts, 'message.start', () => ({ priority: 2 })),
      property: rewindsFirst,
      bounds: startBounds,
    },
    {
      that: 'gives a message to another agent than the one that the user speaks with',
      net: withChanged(starts, 'message.start', () => ({ priority: -1 })),
      property: asksTheSpeaker,
      bounds: startBounds,
    },
  ],
};

const replies: Net = compose('replies', {
  nets: [replyNet({ speakers, linkBudget: 1 })],
  initial: [initialToken(playWindow, null, PLAY_WINDOWS)],
});
const replyBounds = {
  environment: {
    'greeter/model.request': 1,
    'billing/model.request': 1,
    'link.wanted': 0,
    'link.up': 1,
    'link.budget': 0,
    'link.changed': 1,
    'voice.stopped': 0,
    'reply.begun': 1,
    'reply.segment': 1,
    'reply.calls': 1,
    'reply.done': 1,
    'reply.cut': 0,
    'playback.mark': 1,
    'playback.ended': 1,
    'play.window': 0,
    'turn.permit': 0,
    'turn.stopping': 0,
    'session.paused': 0,
  },
  upTo: 1,
  faults: 0,
};
const oneLink = placeBound(['link.wanted', 'link.up'], 1);
const oneReply = placeBound(['reply.awaited', 'model.active'], 1);
const oneAnswer = eventOutBounded('billing/model.response', 1, { per: 'billing/model.request' });
const ends = [
  'link.budget',
  'link.up',
  'command.ready',
  'play.window',
  'play.queued',
  'playback.mark',
  ...names.map((name) => `${name}/model.response`),
];
const requests = names.map((name) => `${name}/model.request`);
const unlinked = [...ends.filter((place) => place !== 'link.up'), 'link.wanted', ...requests];
const asking = [...ends, ...requests, 'reply.awaited', 'silence.first'];
const replying = [
  ...ends,
  ...requests,
  'reply.text',
  'reply.segment',
  'reply.calls',
  'reply.done',
  'playback.ended',
];
/** While a connection is open, a request waits only for a reply that is under way. */
const rests = deadlockFree([
  ...ends,
  { marked: ['reply.awaited'], allowed: [...asking, 'reply.begun'] },
  { marked: ['model.active'], allowed: replying },
  // The reply is complete, and its audio still plays.
  { marked: ['model.active', 'reply.done'], allowed: [...replying, 'link.changed'] },
  { marked: requests.slice(0, 1), allowed: unlinked },
  { marked: requests.slice(1), allowed: unlinked },
  { marked: ['link.wanted'], allowed: unlinked },
]);

const repliesProof: NetProof = {
  name: 'live replies of several agents',
  net: replies,
  claims: [
    {
      properties: [oneLink, oneReply, oneAnswer, rests],
      bounds: replyBounds,
      quick: withoutEach(replyBounds, ['billing/model.request', 'reply.done']),
    },
  ],
  mutants: [
    {
      that: 'wants a connection for another agent beside the one that is open',
      net: readingInstead(replies, 'reply.request/billing', 'link'),
      property: oneLink,
      bounds: replyBounds,
    },
    {
      that: 'asks for a second reply while it awaits the first',
      net: withoutInhibitor(replies, 'reply.request/billing', 'reply.awaited'),
      property: oneReply,
      bounds: replyBounds,
    },
    {
      that: 'does not ask the next connection for a reply that was lost',
      net: withoutTransition(replies, 'reply.lost'),
      property: rests,
      bounds: replyBounds,
    },
  ],
};

/** All proofs of live sessions of several agents. */
export const liveAgentsProofs: readonly NetProof[] = [speechTurnsProof, repliesProof];
