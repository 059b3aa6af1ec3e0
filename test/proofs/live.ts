/** The proofs of the nets of a live session, each alone: tokens of its ports arrive at any moment. */
import {
  all,
  allOf,
  compose,
  initialToken,
  net,
  oneOf,
  pure,
  running,
} from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import {
  modelRequest,
  modelResponse,
  toolBatch,
  toolCall,
  toolParked,
  turnCurrent,
} from '../../src/agents/index.ts';
import { newTurn, runTool } from '../../src/agents/internal.ts';
import { commandNet } from '../../src/live/command/command-net.ts';
import { bargeInNet } from '../../src/live/duplex/barge-in.ts';
import { callCancelNet } from '../../src/live/duplex/call-cancel.ts';
import { recoveryNet } from '../../src/live/duplex/recovery.ts';
import { PLAY_WINDOWS, replyNet } from '../../src/live/duplex/reply.ts';
import { speechTurnNet } from '../../src/live/duplex/speech-turn.ts';
import { vadNet } from '../../src/live/duplex/vad.ts';
import { linkNet } from '../../src/live/link/link-net.ts';
import { ScriptedLive } from '../../src/live/models/scripted/scripted-live.ts';
import {
  linkBudget,
  linkCalled,
  linkHandle,
  linkHandleArrived,
  linkUp,
} from '../../src/live/vocabulary/link-places.ts';
import {
  callUnwanted,
  playWindow,
  replyAwaited,
  replyCalls,
  silenceFirst,
  utteranceEnded,
  voiceStopped,
} from '../../src/live/vocabulary/reply-places.ts';
import { soleSpeaker } from '../../src/live/vocabulary/speaker.ts';
import {
  atMost,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  neverFiresAfter,
  noFireAfterEndInvocation,
  placeBound,
  precedes,
  unreachable,
} from '../../src/verify/index.ts';
import {
  readingInstead,
  withChanged,
  withoutInhibitor,
  withoutInput,
  withoutOutput,
  withoutReset,
  withoutTransition,
} from '../cases/net-mutations.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';
import { stock } from './subnets.ts';

const LINK_BUDGET = 2;
const faults = ['net.fault', 'net.fault.unhandled'];

const link = linkNet({
  findTarget: async () => ({ model: new ScriptedLive({ turns: [] }), request: {} }),
  backoffMs: () => 0,
}).net;
const linkStates = [
  'link.wanted',
  'link.request',
  'running(link.open)',
  'link.up',
  'link.down',
  'link.expired',
];
/** What the link gives to the other nets. */
const linkOutputs = ['link.changed', 'command.ready'];
const linkBounds = {
  environment: {
    'link.start': 1,
    'link.stop': 1,
    'link.closed': 1,
    'link.go-away': 1,
    'link.handle-arrived': 0,
    'turn.stopping': 1,
    'session.paused': 0,
    'session.archived': 0,
    'session.completed': 0,
    'link.wanted': 0,
    'link.up': 0,
    'link.budget': 0,
    'model.active': 1,
    'reply.awaited': 0,
  },
  upTo: LINK_BUDGET,
  together: 2,
  faults: 0,
};
const oneLink = placeBound(linkStates, 2);
const swapsAfterGoAway = precedes('link.rotate', ['link.swap'], { each: true });
const opensWithinBudget = atMost(['link.open'], LINK_BUDGET, { per: 'link.start' });
const opensInATurn = noFireAfterEndInvocation(['link.open'], 'turn.stopping');
/** While a connection is open, the text model does not answer. */
const isCalled = unreachable({ 'link.up': 1 }, ['link.called', ...faults]);
/** An attempt that has begun goes on when the client calls again. */
const opensWithinBudgets = atMost(['link.open'], LINK_BUDGET + 1, { per: 'link.start' });
const oneCalled = placeBound('link.called', 1);
const oneHandle = placeBound('link.handle', 1);
const handleBounds = {
  ...linkBounds,
  environment: { ...linkBounds.environment, 'link.handle-arrived': 2, 'link.go-away': 0 },
};
/** The server announces twice that it will close the connection. */
const rotatesTwice = {
  ...linkBounds,
  environment: { ...linkBounds.environment, 'link.go-away': 2, 'link.closed': 0 },
};
const linkEnds = [
  'link.up',
  // Until its next attempt.
  'link.down',
  'link.called',
  'link.budget',
  'link.handle',
  'turn.stopping',
  'model.active',
  ...linkOutputs,
];
const linkRests = deadlockFree([
  ...linkEnds,
  { marked: ['turn.stopping'], allowed: [...linkEnds, 'link.request', 'link.rotating'] },
  // The next connection waits for the end of the reply.
  { marked: ['model.active', 'link.up'], allowed: [...linkEnds, 'link.rotating'] },
]);

/** The client calls again. */
const callsAgain = {
  ...linkBounds,
  environment: {
    ...linkBounds.environment,
    'link.start': 2,
    'link.stop': 0,
    'link.go-away': 0,
    'model.active': 0,
  },
};

export const linkProof: NetProof = {
  name: 'live link',
  net: link,
  claims: [
    {
      properties: [oneLink, isCalled, swapsAfterGoAway, opensWithinBudget, opensInATurn, linkRests],
      bounds: linkBounds,
      quick: withoutEach(linkBounds, ['link.stop', 'link.closed', 'link.go-away']),
    },
    {
      properties: [oneLink, isCalled, oneCalled, opensWithinBudgets, linkRests],
      bounds: callsAgain,
      quick: withoutEach(callsAgain, ['link.closed']),
    },
    { properties: [oneHandle], bounds: handleBounds },
    { properties: [oneLink, linkRests], bounds: rotatesTwice },
  ],
  mutants: [
    {
      that: 'rotates the connection and never swaps',
      net: withoutTransition(link, 'link.swap'),
      property: linkRests,
      bounds: linkBounds,
    },
    {
      that: 'opens a connection and lets the text model answer',
      net: withoutOutput(link, 'link.want', 'called'),
      property: isCalled,
      bounds: linkBounds,
    },
    {
      that: 'gives up a rotation and lets the text model answer',
      net: withoutInhibitor(link, 'link.give-up', 'link.up'),
      property: isCalled,
      bounds: linkBounds,
    },
    {
      that: 'opens a connection after the end of a turn',
      net: withoutInhibitor(link, 'link.open', 'turn.stopping'),
      property: opensInATurn,
      bounds: linkBounds,
    },
    {
      that: 'opens a connection without its part of the budget',
      net: readingInstead(link, 'link.begin', 'budget'),
      property: opensWithinBudget,
      bounds: linkBounds,
    },
    {
      that: 'does not go on after the server has forgotten the handle',
      net: withoutTransition(link, 'link.forget-handle'),
      property: linkRests,
      bounds: linkBounds,
    },
    {
      that: 'adds the attempts of a call to those that are left',
      net: withoutReset(link, 'link.start-again', 'link.budget'),
      property: opensWithinBudgets,
      bounds: callsAgain,
    },
    {
      that: 'keeps a handle beside the newest one',
      net: withChanged(link, 'link.keep-handle', () => ({
        take: { arrived: linkHandleArrived },
        give: allOf({ handle: linkHandle }),
      })),
      property: oneHandle,
      bounds: handleBounds,
    },
    {
      that: 'rotates a connection that it rotates already',
      net: withoutInhibitor(
        withoutInhibitor(link, 'link.rotate', 'running(link.open)'),
        'link.rotate',
        'link.rotating',
      ),
      property: oneLink,
      bounds: rotatesTwice,
    },
  ],
};

const speakers = [soleSpeaker('assistant')];
const duplex: Net = compose('duplex', {
  nets: [vadNet(), bargeInNet({ speakers }), replyNet({ speakers, linkBudget: 1 }), recoveryNet()],
  initial: [initialToken(playWindow, null, PLAY_WINDOWS)],
});
const nothing = {
  'voice.started': 0,
  'voice.stopped': 0,
  'voice.lost': 0,
  'reply.begun': 1,
  'reply.segment': 1,
  'reply.calls': 0,
  'reply.done': 1,
  'reply.interrupted': 0,
  'playback.mark': 1,
  'playback.ended': 1,
  'playback.stopped': 0,
  'interrupt.in': 0,
  'model.request': 1,
  'link.up': 1,
  'link.changed': 0,
  'link.budget': 0,
  'turn.permit': 0,
  'turn.stopping': 0,
  'session.paused': 0,
  'play.window': 0,
};
/** The user speaks: before, during and after a reply. */
const speaks = {
  environment: {
    ...nothing,
    'voice.started': 1,
    'voice.stopped': 1,
    'playback.mark': 0,
    'playback.stopped': 1,
  },
  faults: 0,
};
/** The connection is lost while the user speaks. */
const loses = {
  environment: {
    ...nothing,
    'voice.started': 2,
    'voice.stopped': 1,
    'voice.lost': 1,
    'reply.begun': 0,
    'reply.segment': 0,
    'reply.done': 0,
    'playback.ended': 0,
    'playback.mark': 0,
  },
  faults: 0,
};
/** The connection changes. */
const reconnects = { environment: { ...nothing, 'link.changed': 1 }, faults: 0 };
/** The server cuts the reply, or the model makes calls. */
const calls = {
  environment: { ...nothing, 'reply.interrupted': 1, 'reply.calls': 1, 'playback.stopped': 1 },
  faults: 0,
};
/** The turn is stopped from outside: its permit is free while the model speaks. */
const stops = { environment: { ...nothing, 'voice.started': 1, 'turn.permit': 1 }, faults: 0 };
/** An interrupt or an archive stops the turn while the model speaks. */
const isStopped = {
  environment: { ...nothing, 'interrupt.in': 1, 'turn.stopping': 1, 'playback.stopped': 1 },
  faults: 0,
};

const keepsWindows = placeBound(['play.window', 'play.queued'], PLAY_WINDOWS);
const someWindow = unreachable({}, ['play.window', 'play.queued', ...faults]);
const oneReply = placeBound(['reply.awaited', 'model.active', 'reply.cut'], 1);
const recoveries = ['recovery.nudge', 'recovery.reconnect'];
const silentWhileSpeaking = neverFiresAfter(recoveries, 'model.active', { until: 'reply.request' });
const cutIsOver = neverFiresAfter(['reply.say', 'reply.finish', 'reply.call'], 'reply.cut', {
  until: 'reply.begin',
});
const oneAnswer = eventOutBounded('model.response', 1, { per: 'model.request' });
const ends = [
  'play.window',
  // The client has not played it yet. A mark of another window is of no use.
  'play.queued',
  'playback.mark',
  'voice.open',
  'utterance.ended',
  'link.up',
  'link.wanted',
  'link.budget',
  'command.ready',
  'model.request',
  'model.response',
  'turn.ending',
  'turn.permit',
];
const replying = ['reply.text', 'reply.segment', 'reply.calls', 'reply.done', 'playback.ended'];
const asking = ['reply.awaited', 'silence.first', 'silence.second'];
/** An utterance whose end is not known begins no turn. */
const endsOnce = eventOutBounded('utterance.ended', 1, { per: 'voice.stopped' });
const rests = deadlockFree([
  ...ends,
  { marked: ['model.active'], allowed: [...ends, ...replying] },
  // The reply is complete, and its audio still plays.
  { marked: ['model.active', 'reply.done'], allowed: [...ends, ...replying, 'link.changed'] },
  {
    marked: ['voice.open'],
    allowed: [...ends, 'reply.awaited', 'silence.first', 'silence.second'],
  },
  { marked: ['reply.awaited', 'play.queued'], allowed: [...ends, 'reply.begun'] },
]);
/** The next turn does not begin while something of the last reply is left. */
const neverSpeaksWithoutTurn = deadlockFree([
  ...ends.filter((place) => place !== 'turn.permit'),
  ...replying,
  ...asking,
  'model.active',
  'reply.begun',
  {
    marked: ['turn.permit'],
    allowed: [...ends, 'reply.awaited', 'silence.first', 'silence.second', 'reply.begun'],
  },
]);
const onePerReply = [keepsWindows, someWindow, oneReply, oneAnswer];

export const duplexProof: NetProof = {
  name: 'live duplex: VAD, barge-in, replies, silence recovery',
  net: duplex,
  claims: [
    { properties: [...onePerReply, cutIsOver, silentWhileSpeaking, rests], bounds: speaks },
    { properties: [...onePerReply, rests], bounds: reconnects },
    { properties: [endsOnce, rests], bounds: loses },
    {
      properties: [...onePerReply, cutIsOver, rests],
      bounds: calls,
      quick: withoutEach(calls, ['reply.calls', 'reply.done']),
    },
    { properties: [...onePerReply, cutIsOver], bounds: isStopped },
    { properties: [...onePerReply, neverSpeaksWithoutTurn], bounds: stops },
  ],
  mutants: [
    {
      that: 'is interrupted by speech and drops the windows of the reply',
      net: withoutOutput(duplex, 'barge.in', 'windows'),
      property: someWindow,
      bounds: speaks,
    },
    {
      that: 'makes an utterance of speech whose connection was lost',
      net: withChanged(duplex, 'vad.lost', () => ({
        give: allOf({ ended: utteranceEnded }),
      })),
      property: endsOnce,
      bounds: loses,
    },
    {
      that: 'is interrupted by speech and keeps the reply',
      net: readingInstead(duplex, 'barge.in', 'active'),
      property: oneReply,
      bounds: speaks,
    },
    {
      that: 'gives up a connection over which the model speaks',
      // The start of the reply also removes the clock: one of the two is enough.
      net: withoutInhibitor(
        withoutReset(duplex, 'reply.begin', 'silence.second'),
        'recovery.reconnect',
        'model.active',
      ),
      property: silentWhileSpeaking,
      bounds: speaks,
      shows: /reply\.begin[^]*recovery\.reconnect/,
    },
    {
      that: 'asks for a second reply while it awaits the first',
      net: withoutInhibitor(duplex, 'reply.request', 'reply.awaited'),
      property: oneReply,
      bounds: { ...calls, environment: { ...calls.environment, 'model.request': 2 } },
    },
    {
      that: 'does not ask the next connection for a reply that was lost',
      net: withoutTransition(duplex, 'reply.lost'),
      property: rests,
      bounds: reconnects,
    },
    {
      that: 'waits for the report of a client that is gone',
      net: withoutTransition(duplex, 'reply.truncate-late'),
      property: rests,
      bounds: speaks,
    },
    {
      that: 'stops the turn and keeps the reply',
      net: readingInstead(duplex, 'reply.stop', 'active'),
      property: oneReply,
      bounds: isStopped,
    },
    {
      that: 'keeps a reply whose turn was stopped',
      net: withoutTransition(duplex, 'reply.abandon'),
      property: neverSpeaksWithoutTurn,
      bounds: stops,
    },
  ],
};

const commands = commandNet().net;
const commandBounds = { environment: { 'command.ready': 3, 'link.up': 1 }, faults: 0 };
const oneAtATime = placeBound('running(command.send)', 1);
const allSent = deadlockFree(['link.up']);
const sentOnce = atMost(['command.send'], 1, { per: 'command.ready' });

export const commandProof: NetProof = {
  name: 'live commands',
  net: commands,
  claims: [{ properties: [oneAtATime, allSent, sentOnce], bounds: commandBounds }],
  mutants: [
    {
      that: 'sends several commands at once, so their order is lost',
      net: withChanged(commands, 'command.send', () => ({ concurrency: 2 })),
      property: oneAtATime,
      bounds: commandBounds,
    },
    {
      that: 'sends commands only while no connection is open',
      net: withChanged(commands, 'command.send', () => ({ read: {}, unless: [linkUp] })),
      property: allSent,
      bounds: commandBounds,
    },
  ],
};

const REASK_BUDGET = 2;
const speech = speechTurnNet({ speakers, reaskBudget: REASK_BUDGET });
const speechBounds = {
  environment: {
    'voice.stopped': 1,
    'voice.open': 1,
    'utterance.ended': 1,
    'utterance.transcript': 1,
    'turn.permit': 2,
    'link.up': 1,
    'link.called': 1,
    'reply.awaited': 0,
    'model.active': 1,
    'reply.cut': 0,
    'answer.in': 0,
    'tool.batch': 1,
    'session.paused': 1,
    'session.queued': 1,
    'session.failed': 0,
  },
  upTo: REASK_BUDGET,
};
const starts = ['speech.start', 'speech.start-late'];
const oneTurnAPermit = atMost(starts, 1, { per: 'turn.permit' });
const fullBudget = placeBound('turn.budget', REASK_BUDGET);
const awaitsOneReply = neverFiresAfter(starts, 'model.active');

export const speechTurnProof: NetProof = {
  name: 'live speech turn',
  net: speech,
  claims: [{ properties: [oneTurnAPermit, fullBudget, awaitsOneReply], bounds: speechBounds }],
  mutants: [
    {
      that: 'awaits a reply while another is spoken',
      net: withoutInhibitor(speech, 'speech.start', 'model.active'),
      property: awaitsOneReply,
      bounds: speechBounds,
    },
    {
      that: 'awaits a reply to an utterance that has waited, while another is spoken',
      net: withoutInhibitor(speech, 'speech.start-late', 'model.active'),
      property: awaitsOneReply,
      bounds: speechBounds,
    },
    {
      that: 'begins a turn with an utterance that has waited without the permit',
      net: withoutInput(speech, 'speech.start-late', 'permit'),
      property: oneTurnAPermit,
      bounds: speechBounds,
    },
    {
      that: 'begins a turn without the permit',
      net: withoutInput(speech, 'speech.start', 'permit'),
      property: oneTurnAPermit,
      bounds: speechBounds,
    },
    {
      that: 'carries the budget of one turn over to the next',
      net: withoutReset(speech, 'speech.start', 'turn.budget'),
      property: fullBudget,
      bounds: speechBounds,
    },
  ],
};

/** The two starts of a spoken turn. What the code decides by values is a read here: it awaits a reply only over a connection. */
const asks = net('ask', {
  in: { voiceStopped, linkUp },
  out: { turnCurrent, modelRequest, replyAwaited, silenceFirst },
  transitions: [
    pure('speech.request', {
      take: { edge: voiceStopped },
      give: allOf({ turn: turnCurrent, request: modelRequest }),
      run: () => ({ turn: newTurn(''), request: { invocationId: '', round: 0 } }),
    }),
    pure('speech.await', {
      take: { edge: voiceStopped },
      read: { link: linkUp },
      give: allOf({ turn: turnCurrent, awaited: replyAwaited, silence: silenceFirst }),
      run: () => ({
        turn: newTurn(''),
        awaited: { conn: '', invocationId: '', round: 0 },
        silence: null,
      }),
    }),
  ],
});
/** From the end of an utterance to its reply, with the recovery of a silent model and the connection. */
const answering: Net = compose('answer', {
  nets: [
    // The delay of the next attempt is from a table. For the prover, a function may return what never comes.
    withChanged(link, 'link.again', () => ({ after: 1 })),
    replyNet({ speakers, linkBudget: LINK_BUDGET }),
    recoveryNet(),
    asks,
  ],
  initial: [initialToken(playWindow, null, PLAY_WINDOWS)],
});
const answerBounds = {
  environment: {
    ...linkBounds.environment,
    'link.stop': 0,
    'turn.stopping': 0,
    'link.changed': 0,
    'model.request': 0,
    'model.active': 0,
    'reply.awaited': 0,
    'reply.begun': 1,
    'reply.segment': 0,
    'reply.calls': 0,
    'reply.done': 0,
    'reply.cut': 0,
    'playback.mark': 0,
    'playback.ended': 0,
    'play.window': 0,
    'voice.open': 0,
    'voice.stopped': 1,
    'turn.permit': 0,
  },
  upTo: LINK_BUDGET,
  together: 2,
  faults: 0,
};
const callsTwice = {
  ...answerBounds,
  environment: { ...answerBounds.environment, 'link.start': 2 },
};
const withoutCall = [
  'turn.current',
  'model.request',
  'play.window',
  'link.budget',
  'command.ready',
];
/**
 * Whatever the model and its server do, and however often the connection is lost: an utterance gets a reply, or the call
 * is given up. Without a call, its request waits for the text model, which is not part of this net. The next speech, an
 * interrupt and the end of the call can end it from outside.
 */
const isAnswered = eventuallyAnswered('turn.current', ['model.active', 'link.give-up'], {
  resting: [{ marked: ['model.request'], allowed: withoutCall }],
});

export const answerProof: NetProof = {
  name: 'live answers: connection, replies, silence recovery',
  net: answering,
  claims: [
    {
      properties: [isAnswered],
      bounds: callsTwice,
      quick: withoutEach(callsTwice, ['link.start']),
    },
  ],
  mutants: [
    {
      that: 'waits for a silent model without end',
      net: withoutTransition(answering, 'recovery.reconnect'),
      property: isAnswered,
      bounds: answerBounds,
    },
    {
      that: 'does not ask the next connection',
      net: withoutTransition(answering, 'reply.requeue'),
      property: isAnswered,
      bounds: answerBounds,
    },
    {
      that: 'keeps a request when no connection can be opened any more',
      net: withChanged(answering, 'link.give-up', () => ({
        unless: [linkBudget, linkUp, linkCalled],
      })),
      property: isAnswered,
      bounds: answerBounds,
    },
  ],
};

const call = { invocationId: '', callId: '', name: '', args: {}, index: 0 };
const batch = { invocationId: '', round: 0, calls: [] };
/** An answer with one call, which may need an approval. */
const makeCall = pure('call.make', {
  take: { response: modelResponse },
  give: oneOf({
    runs: allOf({ batch: toolBatch, call: toolCall }),
    parks: allOf({ batch: toolBatch, parked: toolParked }),
  }),
  run: () => ({ runs: { batch, call } }),
});
const dispatch = stock.toolDispatch;
const canceling: Net = compose('call-cancel', {
  nets: [
    {
      ...dispatch,
      in: { ...dispatch.in, modelResponse },
      transitions: [...dispatch.transitions, makeCall],
    },
    callCancelNet({ speakers }),
  ],
});
const cancelBounds = {
  environment: {
    'model.response': 1,
    'turn.current': 1,
    'turn.budget': 1,
    'turn.stopping': 1,
    'answer.in': 1,
    'call.canceled': 2,
    'reply.calls': 1,
  },
  faults: 0,
};
const oneCall = ['tool.call', 'running(tool.run)', 'tool.parked', 'tool.write', 'tool.result'];
const answeredOnce = placeBound(oneCall, 1);
const answered = unreachable({ 'tool.batch': 1 }, [...oneCall, ...faults]);
const cancellations = ['call.cancel-waiting', 'call.cancel-running', 'call.cancel-parked'];
const waitsForCalls = noFireAfterEndInvocation(['call.identify'], 'reply.calls');
const cancelsInATurn = noFireAfterEndInvocation(cancellations, 'turn.stopping');
const inTurn = ['turn.current', 'turn.budget', 'turn.ending', 'turn.waiting', 'model.request'];
const cancelEnds = [
  ...inTurn,
  'answer.in',
  'reply.calls',
  // The call waits for its answer, or the turn is stopped.
  ...oneCall,
  'tool.batch',
  'turn.stopping',
  'turn.stop-requested',
];
/** A cancellation waits only for the calls of a reply. */
const leavesNoCancellation = deadlockFree([
  ...cancelEnds,
  { marked: ['reply.calls'], allowed: [...cancelEnds, 'call.canceled'] },
]);

export const callCancelProof: NetProof = {
  name: 'live canceled calls, with tool dispatch',
  net: canceling,
  claims: [
    {
      properties: [answeredOnce, answered, waitsForCalls, cancelsInATurn, leavesNoCancellation],
      bounds: cancelBounds,
    },
  ],
  mutants: [
    {
      that: 'answers a call whose tool still runs',
      net: withChanged(canceling, 'call.cancel-running', () => ({
        take: { unwanted: callUnwanted },
        read: { firings: all(running(runTool({ agentName: 'assistant', tools: new Map() }))) },
      })),
      property: answeredOnce,
      bounds: cancelBounds,
    },
    {
      that: 'stops a tool and gives its call no answer',
      net: withoutOutput(canceling, 'call.cancel-running', 'result'),
      property: answered,
      bounds: cancelBounds,
    },
    {
      that: 'answers a parked call that can still be approved',
      net: withChanged(canceling, 'call.cancel-parked', () => ({
        take: { unwanted: callUnwanted },
        read: { parked: all(toolParked) },
      })),
      property: answeredOnce,
      bounds: cancelBounds,
    },
    {
      that: 'cancels a call of a turn that is stopped',
      net: withoutInhibitor(canceling, 'call.cancel-running', 'turn.stopping'),
      property: cancelsInATurn,
      bounds: cancelBounds,
    },
    {
      that: 'keeps a cancellation of a call that it does not know',
      net: withoutTransition(canceling, 'call.cancel-late'),
      property: leavesNoCancellation,
      bounds: cancelBounds,
    },
    {
      that: 'looks for a call before the reply is complete',
      net: withChanged(canceling, 'call.identify', () => ({
        read: { calls: all(replyCalls, { min: 0 }) },
        unless: [modelResponse],
      })),
      property: waitsForCalls,
      bounds: cancelBounds,
    },
  ],
};

/** All proofs of the nets of a live session. */
export const liveProofs: readonly NetProof[] = [
  linkProof,
  duplexProof,
  commandProof,
  speechTurnProof,
  answerProof,
  callCancelProof,
];
