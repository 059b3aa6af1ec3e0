import { omitUndefined, readOwn } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { all, allOf, append, pure, running, upTo } from '../../net/index.ts';
import type { AnyPlace, TokenPlace, Transition } from '../../net/index.ts';
import { textContent } from '../generator/parse-yield.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { agentMessage } from '../vocabulary/agent-message.ts';
import type { MessageTokens } from '../vocabulary/agent-message.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { selectEdges } from './select-edges.ts';
import type { WorkflowDefinition, WorkflowNodeDefinition } from './workflow-definition.ts';
import {
  itemDone,
  joinInput,
  nodeDone,
  nodeItem,
  nodeReady,
  nodeStep,
  nodeWaiting,
  toNodeInfo,
  workflowBudget,
  workflowRun,
} from './workflow-places.ts';
import type { NodeDone, NodeReady, NodeStep, WorkflowRun } from './workflow-places.ts';
import type { WorkflowRulesOptions } from './workflow-definition.ts';

/** The most items of one list. */
const MAX_ITEMS = 1000;

/** The transitions that begin a node, by its kind; for agents and lists also those that end it. */
export function nodeStartTransitions(
  node: WorkflowNodeDefinition,
  options: WorkflowRulesOptions,
): readonly Transition[] {
  switch (node.kind) {
    case 'function':
      return startFunction(node.name);
    case 'agent':
      return startAgent(node, options);
    case 'each':
    case 'each-agent':
      return startEach(node.name, options);
    case 'join':
      return [joinTransition(node.name, options)];
    default:
      return node satisfies never;
  }
}

function startFunction(name: string): readonly Transition[] {
  return [
    pure(`node.start-${name}`, {
      take: { ready: nodeReady(name), run: workflowRun },
      unless: [turnStopping],
      give: allOf({ step: nodeStep(name), run: workflowRun }),
      run: ({ ready, run }, { firingId }) => beginRun(name, ready, run, firingId),
    }),
    stepLimitReached(name, nodeStep(name), ({ invocationId }) => invocationId),
  ];
}

function startAgent(
  node: Extract<WorkflowNodeDefinition, { readonly kind: 'agent' }>,
  { nodeIdentity, lastMessageText }: WorkflowRulesOptions,
): readonly Transition[] {
  const { name, toOutput } = node;
  return [
    pure(`node.start-${name}`, {
      take: { ready: nodeReady(name), run: workflowRun, budget: workflowBudget },
      // An agent cannot run twice at the same time.
      unless: [nodeWaiting(name), turnStopping],
      give: allOf({
        waiting: nodeWaiting(name),
        start: targetPlace(name),
        run: workflowRun,
        said: append(conversation),
      }),
      run: ({ ready, run }, { firingId }) => {
        const { step, run: nextRun } = beginRun(name, ready, run, firingId);
        const { invocationId, round } = step;
        return {
          waiting: step,
          start: { invocationId, round, node: toNodeInfo(name, step) },
          run: nextRun,
          said: inputItems(nodeIdentity(name), ready, invocationId),
        };
      },
    }),
    stepLimitReached(name, nodeReady(name), undefined, [nodeWaiting(name)]),
    pure(`node.resume-${name}`, {
      take: { waiting: nodeWaiting(name), ended: donePlace(name), run: workflowRun },
      read: { conversation },
      unless: [turnStopping],
      give: allOf({ done: nodeDone(name), run: workflowRun }),
      run: ({ waiting, ended, run, conversation: lines }) => {
        const { path, invocationId } = waiting;
        const text = lastMessageText(name, lines, invocationId);
        const { output = toOutput?.(text) ?? text, round = 0, escalate, stopReason, route } = ended;
        const first = run.stopReason ?? (stopReason === 'end_turn' ? undefined : stopReason);
        return {
          done: { path, output, ...omitUndefined({ route }) },
          run: {
            ...run,
            round: Math.max(run.round, round),
            ...omitUndefined({
              escalate: escalate === true ? escalate : undefined,
              stopReason: first,
            }),
          },
        };
      },
    }),
  ];
}

/** The agent's input as a user message, if it is not in the conversation already. */
function inputItems(
  identity: AgentIdentity,
  { input, heard }: NodeReady,
  invocationId: string,
): readonly ConversationItem[] {
  if (heard === true || input === null || input === '') return [];
  const content = { ...textContent(input), role: 'user' as const };
  return [{ invocationId, content, ...branchField(identity) }];
}

function startEach(
  name: string,
  { definition, nodeIdentity }: WorkflowRulesOptions,
): readonly Transition[] {
  const itemsRunning = running({ ...namedEffect, name: `node.run-${name}` });
  return [
    pure(`node.start-${name}`, {
      take: { ready: nodeReady(name), run: workflowRun, budget: workflowBudget },
      // The items of two lists at the same time could not be distinguished.
      unless: [nodeWaiting(name), turnStopping],
      give: allOf({
        waiting: nodeWaiting(name),
        items: upTo(MAX_ITEMS, nodeItem(name)),
        run: workflowRun,
      }),
      run: ({ ready, run }, { firingId }) => {
        const { step, run: nextRun } = beginRun(name, ready, run, firingId);
        const list = Array.isArray(ready.input) ? ready.input : [ready.input];
        if (list.length > MAX_ITEMS)
          throw new InvalidInputError(
            `input of node "${name}"`,
            `has ${list.length} items; the limit is ${MAX_ITEMS}. Split the list.`,
          );
        const items = list.map((input: Json, index) => ({ ...step, input, index }));
        return { waiting: step, items, run: nextRun };
      },
    }),
    stepLimitReached(name, nodeReady(name), undefined, [nodeWaiting(name)]),
    pure(`node.gather-${name}`, {
      take: { waiting: nodeWaiting(name), results: all(itemDone(name), { min: 0 }) },
      unless: [nodeItem(name), itemsRunning, turnStopping],
      give: allOf({
        done: nodeDone(name),
        said: append(conversation),
        events: upTo(1, eventOut),
      }),
      run: ({ waiting, results }) => {
        const output = results.toSorted((a, b) => a.index - b.index).map((one) => one.output);
        const message = outputMessage(nodeIdentity(name), waiting, output, definition);
        return { done: { path: waiting.path, output }, ...message };
      },
    }),
  ];
}

/** A placeholder for `running`, which uses only the name of an effect. */
const namedEffect = {
  kind: 'effect',
  take: {},
  read: {},
  unless: [],
  reset: [],
  give: allOf({}),
  priority: 0,
  formerNames: [],
  run: () => undefined,
} as const;

function joinTransition(
  name: string,
  { definition, nodeIdentity }: WorkflowRulesOptions,
): Transition {
  const before = definition.edges.filter(({ to }) => to === name).map(({ from }) => from);
  return pure(`node.join-${name}`, {
    take: {
      run: workflowRun,
      ...(Object.fromEntries(before.map((from) => [from, joinInput(name, from)])) as Record<
        never,
        never
      >),
    },
    unless: [turnStopping],
    give: allOf({
      done: nodeDone(name),
      run: workflowRun,
      said: append(conversation),
      events: upTo(1, eventOut),
    }),
    run: ({ run, ...inputs }) => {
      const parts = inputs as Readonly<Record<string, NodeDone>>;
      const output: JsonObject = Object.fromEntries(
        before.map((from) => [from, parts[from]?.output ?? null]),
      );
      const commonPrefix = commonPath(Object.values(parts).map(({ path }) => path));
      const count = (readOwn(run.runs, name) ?? 0) + 1;
      const path = nodePath(commonPrefix, name, count);
      const where = { invocationId: run.invocationId, path, runId: String(count) };
      return {
        done: { path, output },
        run: { ...run, runs: { ...run.runs, [name]: count } },
        ...outputMessage(nodeIdentity(name), where, output, definition),
      };
    },
  });
}

/** The message of a list node or a join with this output. The output of a last node is its content too. */
function outputMessage(
  identity: AgentIdentity,
  { invocationId, ...position }: Pick<NodeStep, 'invocationId' | 'path' | 'runId'>,
  output: Json,
  { edges }: WorkflowDefinition,
): MessageTokens {
  const name = identity.agentName;
  const nextEdges = selectEdges(
    edges.filter(({ from }) => from === name),
    undefined,
  );
  const content = nextEdges.length === 0 ? textContent(output) : undefined;
  const nodeInfo = toNodeInfo(name, position);
  return agentMessage(identity, invocationId, content, { output, nodeInfo });
}

/** The first step of a node's run, and the workflow's token with the run counted. */
function beginRun(
  name: string,
  { input, trail }: NodeReady,
  run: WorkflowRun,
  activation: string,
): { readonly step: NodeStep; readonly run: WorkflowRun } {
  const { invocationId, round } = run;
  const count = (readOwn(run.runs, name) ?? 0) + 1;
  return {
    step: {
      invocationId,
      round,
      path: nodePath(trail, name, count),
      runId: String(count),
      input,
      activation,
      yielded: 0,
    },
    run: { ...run, runs: { ...run.runs, [name]: count } },
  };
}

/** The transition that ends the turn with an error when a node is ready but the steps are used up. */
function stepLimitReached<T>(
  name: string,
  waiting: TokenPlace<T>,
  getInvocationId?: (token: T) => string,
  unless: readonly AnyPlace[] = [],
): Transition {
  return pure(`node.stop-${name}`, {
    formerNames: [`node.deny-${name}`],
    take: { waiting, run: workflowRun } as const,
    unless: [workflowBudget, ...unless, turnStopping],
    priority: -1,
    give: allOf({ run: workflowRun, stop: stopRequested, events: upTo(1, eventOut) }),
    run: ({ run, waiting: token }) => ({
      run,
      stop: { stopReason: 'budget_reached' as const },
      events: [
        {
          type: 'error' as const,
          invocationId: getInvocationId?.(token) ?? run.invocationId,
          /**
           * A workflow used all its steps before a node was done. It was stopped.
           * @remedy Raise `maxSteps`, or find out why the workflow does not end.
           */
          code: 'step_limit',
          message: `The workflow used all its steps before "${name}" was done: it was stopped. Raise maxSteps, or find out why it does not end.`,
        },
      ],
    }),
  });
}

/** Appends a run to a path. If the path already contains the node, which is a loop, it is cut before that node first. */
function nodePath(path: string, node: string, run: number): string {
  const segments = path.split('/');
  const before = segments.findIndex((segment) => segment.startsWith(`${node}@`));
  return [...(before === -1 ? segments : segments.slice(0, before)), `${node}@${run}`].join('/');
}

/** The common beginning of the paths. */
function commonPath(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/'));
  const parts = first.findIndex((segment, index) => others.some((path) => path[index] !== segment));
  return first.slice(0, parts === -1 ? first.length : parts).join('/');
}
