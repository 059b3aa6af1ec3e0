import { omitUndefined } from '../../core/internal.ts';
import type { Json, LogEntry } from '../../core/index.ts';
import { all, allOf, matching, oneOf, pure, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { fromFormerInputRequest } from './input-request.ts';
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
import { nodeDone, nodeStep, nodeWaiting } from './workflow-places.ts';
import type { NodeDone, NodeStep } from './workflow-places.ts';
import type { FunctionNodeDefinition, WorkflowRulesOptions } from './workflow-definition.ts';

/** The inputs of an answer: the question that waits for it, the answer, and that the turn waits. */
const answered = {
  parked: matching(toolParked, ({ callId }) => callId),
  answer: matching(answerIn, ({ callId }) => callId),
  waiting: all(turnWaiting, { min: 0 }),
} as const;

/** The transitions that apply an answer to a node's question: the answer becomes its output, or the node resumes with it. */
export function answerInput({
  definition,
  nodeIdentity,
}: WorkflowRulesOptions): readonly Transition[] {
  const functions = definition.nodes.flatMap((node) => (node.kind === 'function' ? [node] : []));
  return [
    ...functions.map((node) => answerNode(node, nodeIdentity(node.name))),
    answerFormerQuestion(functions, nodeIdentity),
  ];
}

function answerNode(node: FunctionNodeDefinition, identity: AgentIdentity): Transition {
  const { name } = node;
  return pure(`node.answer-${name}`, {
    take: {
      ...answered,
      step: matching(nodeWaiting(name), ({ callId = '' }) => callId),
    },
    unless: [turnStopping],
    give: oneOf({
      answered: allOf({ next: nextPlace(node), events: upTo(3, eventOut) }),
      refused: allOf({
        parked: toolParked,
        step: nodeWaiting(name),
        events: upTo(2, eventOut),
      }),
    }),
    run: ({ parked, answer, waiting, step }) => {
      const refused = refuse(parked, answer, waiting.length);
      if (refused !== undefined) return { refused: { ...refused, step } };
      const { callId: _, ...running } = step;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the place depends on the node
      return {
        answered: applyAnswer(node, identity, running, parked, answer, waiting.length),
      } as never;
    },
  });
}

/** The transition for a question that 0.1.0 parked: such a question carries the step of its node. */
function answerFormerQuestion(
  functions: readonly FunctionNodeDefinition[],
  nodeIdentity: WorkflowRulesOptions['nodeIdentity'],
): Transition {
  const byName = new Map(functions.map((node) => [node.name, node]));
  return pure('node.answer', {
    take: answered,
    unless: [...functions.map(({ name }) => nodeWaiting(name)), turnStopping],
    isForFormerTokens: true,
    give: oneOf({
      ...Object.fromEntries(
        functions.map((node) => [
          node.name,
          allOf({ next: nextPlace(node), events: upTo(3, eventOut) }),
        ]),
      ),
      refused: allOf({ parked: toolParked, events: upTo(2, eventOut) }),
    }),
    run: ({ parked, answer, waiting }) => {
      const refused = refuse(parked, answer, waiting.length);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      if (refused !== undefined) return { refused } as never;
      const { node: name, step } = fromFormerInputRequest(parked);
      const node = byName.get(name);
      if (node === undefined)
        throw new Error(`The question "${parked.callId}" is of node "${name}", which was removed.`);
      const outputs = applyAnswer(node, nodeIdentity(name), step, parked, answer, waiting.length);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return { [name]: outputs } as never;
    },
  });
}

function nextPlace({
  name,
  rerunOnResume,
}: FunctionNodeDefinition): ReturnType<typeof nodeStep> | ReturnType<typeof nodeDone> {
  return rerunOnResume === true ? nodeStep(name) : nodeDone(name);
}

/** The outputs for an answer that is no response; undefined for one that is. */
function refuse(
  parked: ParkedCall,
  { decision, isUpdate }: Answer,
  waiting: number,
): { readonly parked: ParkedCall; readonly events: readonly LogEntry[] } | undefined {
  if (decision === 'answered' && isUpdate !== true) return undefined;
  const { invocationId, callId } = parked;
  const message = `Call "${callId}" waits for an answer: answer it with a response.`;
  const error: LogEntry = { type: 'error', invocationId, code: 'answer_refused', message };
  return { parked, events: [...turnResumed(invocationId, waiting), error] };
}

/** The node with the answer to its question, and the events. */
function applyAnswer(
  { rerunOnResume }: FunctionNodeDefinition,
  identity: AgentIdentity,
  step: NodeStep,
  parked: ParkedCall,
  reply: Answer,
  waiting: number,
): { readonly next: NodeStep | NodeDone; readonly events: readonly LogEntry[] } {
  const { invocationId, callId } = parked;
  const value = toAnswerValue(reply);
  const next =
    rerunOnResume === true
      ? addReply({ ...step, answers: { ...step.answers, [callId]: value } }, value)
      : { path: step.path, output: value, ...omitUndefined({ route: step.route }) };
  const resumed = turnResumed(invocationId, waiting);
  return { next, events: [...resumed, ...answerEvents(identity, parked, reply)] };
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
