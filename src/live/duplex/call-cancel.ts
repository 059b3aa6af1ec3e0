import {
  conversation,
  eventOut,
  modelResponse,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  turnStopping,
  turnWaiting,
} from '../../agents/index.ts';
import type { CallResult, ConversationItem } from '../../agents/index.ts';
import { resultEvent, runTool, toCallResult, turnResumed } from '../../agents/internal.ts';
import type { AgentIdentity, Batch, Call } from '../../agents/internal.ts';
import { getFunctionCalls } from '../../core/index.ts';
import { all, allOf, matching, net, pure, running, upTo } from '../../net/index.ts';
import type { AnyPlace, Net, Ports, Transition } from '../../net/index.ts';
import { toolError } from '../../tools/internal.ts';
import { CANCELED_BY_MODEL, isCanceledByModel } from '../vocabulary/canceled-by-model.ts';
import { callCanceled, callUnwanted, replyCalls } from '../vocabulary/reply-places.ts';
import { speakerKey } from '../vocabulary/speaker.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

/** A cancellation comes before the start of the tool, and before what is done with its result. */
const CANCEL_PRIORITY = 10;

/** Options of the subnet of canceled calls. */
export interface CallCancelOptions {
  /** The agents that call tools. */
  readonly speakers: readonly Speaker[];
}

/**
 * Ends the calls whose results the model no longer wants. A call that waits, runs or is parked gets the answer that it was
 * canceled, because every call needs one; the model is not sent it. A call that has its result keeps it.
 */
export function callCancelNet({ speakers }: CallCancelOptions): Net {
  const identify = pure('call.identify', {
    take: { canceled: callCanceled },
    read: { conversation },
    // The calls of a reply that is not complete are not in the conversation yet.
    unless: [replyCalls, ...speakers.map(({ scoped }) => scoped(modelResponse))],
    give: allOf({ unwanted: upTo(1, callUnwanted) }),
    run: ({ canceled, conversation: items }) => {
      const callId = findCallId(items, canceled.callId);
      return { unwanted: callId === undefined ? [] : [{ callId }] };
    },
  });

  const late = pure('call.cancel-late', {
    take: { unwanted: callUnwanted },
    priority: -1,
    give: allOf({}),
    run: () => ({}),
  });

  return net('call-cancel', {
    in: {
      callCanceled,
      replyCalls,
      conversation,
      turnWaiting,
      turnStopping,
      ...Object.assign({}, ...speakers.map((one) => callPorts(one, speakers))),
    },
    out: { eventOut },
    transitions: [identify, ...speakers.flatMap((one) => cancelCalls(one, speakers)), late],
  });
}

function callPorts({ identity, scoped }: Speaker, speakers: readonly Speaker[]): Ports {
  const places = { modelResponse, toolBatch, toolCall, toolParked, toolResult };
  return Object.fromEntries(
    Object.entries<AnyPlace>(places).map(([name, place]) => [
      speakerKey(name, speakers, identity.agentName),
      scoped(place),
    ]),
  );
}

/** Ends the calls of one agent. */
function cancelCalls(speaker: Speaker, speakers: readonly Speaker[]): readonly Transition[] {
  const { identity, scoped, tools } = speaker;
  const name = (own: string): string => speakerKey(own, speakers, identity.agentName);
  const run = scoped(running(runTool({ ...identity, tools })));
  const unwanted = matching(callUnwanted, ({ callId }) => callId);
  const answered = {
    read: {
      batches: all(scoped(toolBatch), { min: 0 }),
      results: all(scoped(toolResult), { min: 0 }),
    },
    unless: [turnStopping],
    priority: CANCEL_PRIORITY,
    give: allOf({ result: scoped(toolResult), events: upTo(2, eventOut) }),
  } as const;

  const cancelWaiting = pure(name('call.cancel-waiting'), {
    ...answered,
    take: { unwanted, call: matching(scoped(toolCall), ({ callId }) => callId) },
    run: ({ call, batches, results }) => toCanceled(identity, call, { batches, results }),
  });

  const cancelRunning = pure(name('call.cancel-running'), {
    ...answered,
    take: { unwanted, firing: matching(run, ({ inputs }) => inputs.call.callId) },
    run: ({ firing, batches, results }) => {
      const { call } = firing.inputs;
      const mayStillHappen = tools.get(call.name)?.onCrash !== 'rerun';
      return toCanceled(identity, call, { batches, results, mayStillHappen });
    },
  });

  const cancelParked = pure(name('call.cancel-parked'), {
    ...answered,
    take: {
      unwanted,
      parked: matching(scoped(toolParked), ({ callId }) => callId),
      waiting: all(turnWaiting, { min: 0 }),
    },
    run: ({ parked, waiting, batches, results }) => {
      // Its tool was cut off by a crash, and a person was to decide whether it runs again.
      const mayStillHappen = parked.reason === 'crash';
      const { result, events } = toCanceled(identity, parked, { batches, results, mayStillHappen });
      return {
        result,
        events: [...turnResumed(parked.invocationId, waiting.length), ...events],
      };
    },
  });
  return [cancelWaiting, cancelRunning, cancelParked];
}

/** The id of a call in the session, from the id that the model gave it. */
function findCallId(items: readonly ConversationItem[], providerId: string): string | undefined {
  return items
    .flatMap(({ content }) => getFunctionCalls({ content }))
    .findLast((call) => (call.providerId ?? call.id) === providerId)?.id;
}

interface CancellationFacts {
  readonly batches: readonly Batch[];
  readonly results: readonly CallResult[];
  /** True for a tool that has begun, and that cannot run twice. */
  readonly mayStillHappen?: boolean;
}

function toCanceled(
  identity: AgentIdentity,
  { invocationId, callId, name, index }: Call,
  { batches, results, mayStillHappen = false }: CancellationFacts,
): { readonly result: CallResult; readonly events: ReturnType<typeof resultEvent>[] } {
  const calls = batches.flatMap((batch) => batch.calls);
  const isLast = calls.every(
    (call) => call.callId === callId || results.some((one) => isCanceled(one, call.callId)),
  );
  const message = mayStillHappen
    ? 'The model canceled the call. Its tool had not stopped, so it may still happen. Check before doing it again.'
    : 'The model canceled the call.';
  const result = toCallResult({
    invocationId,
    callId,
    name,
    index,
    outcome: mayStillHappen ? 'unknown' : 'cancelled',
    response: toolError(CANCELED_BY_MODEL, message),
    // The model wants none of the results, so it is not asked again.
    actions: isLast ? { skipSummarization: true } : undefined,
  });
  return { result, events: [resultEvent(identity, result)] };
}

function isCanceled({ callId, response }: CallResult, id: string): boolean {
  return callId === id && isCanceledByModel(response);
}
