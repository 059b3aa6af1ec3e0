import { omitUndefined } from '../../core/internal.ts';
import type { Json, LogEntry } from '../../core/index.ts';
import { all, allOf, matching, oneOf, pure, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { fromParkedInputRequest } from './input-request.ts';
import { answerIn, eventOut } from '../vocabulary/messages.ts';
import { turnWaiting } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import type { Answer } from '../vocabulary/messages.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { turnResumed } from '../turn/turn-wait.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { addReply } from '../generator/generator-step.ts';
import { nodeDone, nodeStep } from './workflow-places.ts';
import type { WorkflowRulesOptions } from './workflow-definition.ts';

/** The transition that applies an answer to a node's question: the answer becomes its output, or the node resumes with it. */
export function answerInput({ definition, nodeIdentity }: WorkflowRulesOptions): Transition {
  const functions = definition.nodes.flatMap((node) => (node.kind === 'function' ? [node] : []));
  const rerunsOnResume = new Map(functions.map((node) => [node.name, node.rerunOnResume === true]));
  const alternatives = Object.fromEntries(
    functions.map(({ name, rerunOnResume }) => [
      name,
      rerunOnResume === true
        ? allOf({ next: nodeStep(name), events: upTo(3, eventOut) })
        : allOf({ next: nodeDone(name), events: upTo(3, eventOut) }),
    ]),
  );
  return pure('node.answer', {
    take: {
      parked: matching(toolParked, ({ callId }) => callId),
      answer: matching(answerIn, ({ callId }) => callId),
      waiting: all(turnWaiting, { min: 0 }),
    },
    unless: [turnStopping],
    give: oneOf({
      ...alternatives,
      refused: allOf({ parked: toolParked, events: upTo(2, eventOut) }),
    }),
    run: ({ parked, answer: reply, waiting }) => {
      const { invocationId, callId } = parked;
      const resumed = turnResumed(invocationId, waiting.length);
      if (reply.decision !== 'answered' || reply.isUpdate === true) {
        const message = `Call "${callId}" waits for an answer: answer it with a response.`;
        const error: LogEntry = { type: 'error', invocationId, code: 'answer_refused', message };
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
        return { refused: { parked, events: [...resumed, error] } } as never;
      }
      const { node, step } = fromParkedInputRequest(parked);
      const value = toAnswerValue(reply);
      const events = [...resumed, ...answerEvents(nodeIdentity(node), parked, reply)];
      const next =
        rerunsOnResume.get(node) === true
          ? addReply({ ...step, answers: { ...step.answers, [callId]: value } }, value)
          : {
              path: step.path,
              output: value,
              ...omitUndefined({ route: step.route }),
            };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return { [node]: { next, events } } as never;
    },
  });
}

/** Unwraps `{ result }`, the form in which a bare value is sent. */
function toAnswerValue({ response = {} }: Answer): Json {
  const keys = Object.keys(response);
  return keys.length === 1 && keys[0] === 'result' ? (response['result'] ?? null) : response;
}

function answerEvents(
  identity: AgentIdentity,
  { invocationId, callId, name }: ParkedCall,
  { decision, message, response = {} }: Answer,
): readonly LogEntry[] {
  const result = { invocationId, callId, name, index: 0, outcome: 'ok' as const, response };
  return [
    {
      type: 'tool.answered',
      invocationId,
      callId,
      decision,
      ...omitUndefined({ message }),
    },
    resultEvent(identity, result),
  ];
}
