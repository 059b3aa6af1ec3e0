import { textOf } from '../core/index.ts';
import type { Json, JsonObject, LogEntry } from '../core/index.ts';
import {
  all,
  allOf,
  append,
  matching,
  oneOf,
  optional,
  pure,
  running,
  upTo,
} from '../net/index.ts';
import type { Output } from '../net/arcs.ts';
import type { AnyPlace, TokenPlace, Transition } from '../net/index.ts';
import { heardBy } from './heard-by.ts';
import { askedBy, nodeInfoOf, sayingOf, textContent } from './node-effect.ts';
import { commonTrail, nodePath } from './node-path.ts';
import {
  answerIn,
  conversation,
  doneOf,
  eventOut,
  stopAsked,
  targetOf,
  toolParked,
  turnStopping,
  turnWaiting,
} from './places.ts';
import type { Answer, ConversationItem, Ending, ModelCall, ParkedCall } from './places.ts';
import { resultEvent } from './result-event.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import { START, takenEdges } from './workflow-definition.ts';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow-definition.ts';
import {
  itemDone,
  joinInput,
  nodeDone,
  nodeItem,
  nodeReady,
  nodeStep,
  nodeWaiting,
  workflowBudget,
  workflowRun,
} from './workflow-places.ts';
import type { NodeDone, NodeReady, NodeStep, WorkflowRun } from './workflow-places.ts';

export interface WorkflowRulesOptions {
  readonly definition: WorkflowDefinition;
  readonly maxSteps: number;
  readonly begins: TokenPlace<ModelCall>;
  readonly ends: TokenPlace<Ending>;
  readonly among: NonNullable<Speaking['among']>;
  readonly speaking: (node: string) => Speaking;
  /** While one of these holds something, the workflow is not done. */
  readonly busy: readonly AnyPlace[];
  readonly lastWordsOf: (
    node: string,
    lines: readonly ConversationItem[],
    invocationId: string,
  ) => string;
}

/** More items than this in one list are refused. */
const MAX_ITEMS = 1000;

type Outputs = Readonly<Record<string, Output>>;

/** How the nodes of a workflow come after each other: everything but what they do. */
export function workflowRules(options: WorkflowRulesOptions): readonly Transition[] {
  const { definition } = options;
  const asks = definition.nodes.some(({ kind }) => kind === 'function');
  return [
    begin(options),
    ...definition.nodes.flatMap((node) => [...startsOf(node, options), routeOf(node, definition)]),
    ...(asks ? [answer(options)] : []),
    end(options),
  ];
}

function begin(options: WorkflowRulesOptions): Transition {
  const { definition, maxSteps, begins, among } = options;
  const { name, edges, nodes } = definition;
  const first = edges.filter(({ from }) => from === START);
  const speaking = { agentName: name, among };
  return pure('agent.begin', {
    take: { start: begins },
    read: { conversation },
    unless: [turnStopping],
    reset: [workflowBudget, ...joinInputsOf(definition)],
    give: allOf({
      run: workflowRun,
      budget: upTo(maxSteps, workflowBudget),
      ...readyOutputs(first, nodes),
    }),
    run: ({ start, conversation: lines }) => {
      const { invocationId, round, escalate, node } = start;
      const heard = heardBy(speaking, lines).findLast(({ role }) => role === 'user');
      const input: Json =
        heard === undefined ? null : asInput(heard.parts.length === 0 ? '' : textOf(heard));
      const ready: NodeReady = { input, trail: node?.path ?? name, heard: true };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return {
        run: {
          invocationId,
          round,
          runs: {},
          outputs: {},
          ...(escalate === true && { escalate }),
        },
        budget: Array.from({ length: maxSteps }, () => null),
        ...given(first, nodes, START, ready, { path: ready.trail, output: input }),
      } as never;
    },
  });
}

function asInput(text: string): Json {
  return text;
}

/** How a node begins: at once, as an agent, as a list, or when all before it are done. */
function startsOf(node: WorkflowNode, options: WorkflowRulesOptions): readonly Transition[] {
  switch (node.kind) {
    case 'function':
      return startFunction(node.name);
    case 'agent':
      return startAgent(node, options);
    case 'each':
    case 'each-agent':
      return startEach(node.name, options);
    case 'join':
      return [join(node.name, options.definition)];
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
      run: ({ ready, run }, { firingId }) => begun(name, ready, run, firingId),
    }),
    denied(name, nodeStep(name), ({ invocationId }) => invocationId),
  ];
}

function startAgent(
  node: Extract<WorkflowNode, { readonly kind: 'agent' }>,
  { speaking, lastWordsOf }: WorkflowRulesOptions,
): readonly Transition[] {
  const { name, outputOf } = node;
  const who = speaking(name);
  return [
    pure(`node.start-${name}`, {
      take: { ready: nodeReady(name), run: workflowRun, budget: workflowBudget },
      // One agent runs once at a time.
      unless: [nodeWaiting(name), turnStopping],
      give: allOf({
        waiting: nodeWaiting(name),
        start: targetOf(name),
        run: workflowRun,
        said: append(conversation),
      }),
      run: ({ ready, run }, { firingId }) => {
        const { step, run: now } = begun(name, ready, run, firingId);
        const { invocationId, round } = step;
        return {
          waiting: step,
          start: { invocationId, round, node: nodeInfoOf(who, step) },
          run: now,
          said: inputLine(who, ready, invocationId),
        };
      },
    }),
    denied(name, nodeReady(name), undefined, [nodeWaiting(name)]),
    pure(`node.resume-${name}`, {
      take: { waiting: nodeWaiting(name), ended: doneOf(name), run: workflowRun },
      read: { conversation },
      unless: [turnStopping],
      give: allOf({ done: nodeDone(name), run: workflowRun }),
      run: ({ waiting, ended, run, conversation: lines }) => {
        const { path, invocationId } = waiting;
        const text = lastWordsOf(name, lines, invocationId);
        const { output = outputOf?.(text) ?? text, round = 0, escalate, stopReason } = ended;
        const first = run.stopReason ?? (stopReason === 'end_turn' ? undefined : stopReason);
        return {
          done: { path, output },
          run: {
            ...run,
            round: Math.max(run.round, round),
            ...(escalate === true && { escalate }),
            ...(first !== undefined && { stopReason: first }),
          },
        };
      },
    }),
  ];
}

/** What an agent is told that did not begin with the user's message. */
function inputLine(
  speaking: Speaking,
  { input, heard }: NodeReady,
  invocationId: string,
): readonly ConversationItem[] {
  if (heard === true || input === null || input === '') return [];
  const content = { ...textContent(input), role: 'user' as const };
  return [{ invocationId, content, ...branchOf(speaking) }];
}

function startEach(name: string, { speaking }: WorkflowRulesOptions): readonly Transition[] {
  const working = running({ ...nothing, name: `node.run-${name}` });
  return [
    pure(`node.start-${name}`, {
      take: { ready: nodeReady(name), run: workflowRun, budget: workflowBudget },
      // The items of two lists at once could not be told apart.
      unless: [nodeWaiting(name), turnStopping],
      give: allOf({
        waiting: nodeWaiting(name),
        items: upTo(MAX_ITEMS, nodeItem(name)),
        run: workflowRun,
      }),
      run: ({ ready, run }, { firingId }) => {
        const { step, run: now } = begun(name, ready, run, firingId);
        const list = Array.isArray(ready.input) ? ready.input : [ready.input];
        if (list.length > MAX_ITEMS)
          throw new Error(`Node "${name}" was given ${list.length} items; at most ${MAX_ITEMS}.`);
        const items = list.map((input: Json, index) => ({ ...step, input, index }));
        return { waiting: step, items, run: now };
      },
    }),
    denied(name, nodeReady(name), undefined, [nodeWaiting(name)]),
    pure(`node.gather-${name}`, {
      take: { waiting: nodeWaiting(name), results: all(itemDone(name), { min: 0 }) },
      unless: [nodeItem(name), working, turnStopping],
      give: allOf({ done: nodeDone(name), events: upTo(1, eventOut) }),
      run: ({ waiting, results }) => {
        const output = results.toSorted((a, b) => a.index - b.index).map((one) => one.output);
        const { events } = sayingOf(speaking(name), waiting, { output });
        return { done: { path: waiting.path, output }, events };
      },
    }),
  ];
}

/** Stands for an effect of which only the name counts. */
const nothing = {
  kind: 'effect',
  take: {},
  read: {},
  unless: [],
  reset: [],
  give: allOf({}),
  priority: 0,
  run: () => undefined,
} as const;

function join(name: string, definition: WorkflowDefinition): Transition {
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
    give: allOf({ done: nodeDone(name), run: workflowRun }),
    run: ({ run, ...inputs }) => {
      const parts = inputs as Readonly<Record<string, NodeDone>>;
      const output: JsonObject = Object.fromEntries(
        before.map((from) => [from, parts[from]?.output ?? null]),
      );
      const trail = commonTrail(Object.values(parts).map(({ path }) => path));
      const runs = { ...run.runs, [name]: (run.runs[name] ?? 0) + 1 };
      return {
        done: { path: nodePath(trail, name, runs[name] ?? 1), output },
        run: { ...run, runs },
      };
    },
  });
}

/** The run of a node begins. */
function begun(
  name: string,
  { input, trail }: NodeReady,
  run: WorkflowRun,
  activation: string,
): { readonly step: NodeStep; readonly run: WorkflowRun } {
  const { invocationId, round } = run;
  const count = (run.runs[name] ?? 0) + 1;
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

/** The steps are used up: the turn ends with an error. */
function denied<T>(
  name: string,
  waiting: TokenPlace<T>,
  invocationOf?: (token: T) => string,
  more: readonly AnyPlace[] = [],
): Transition {
  const take = { waiting } as const;
  const take2 = { ...take, run: workflowRun } as const;
  return pure(`node.deny-${name}`, {
    take: take2,
    unless: [workflowBudget, ...more, turnStopping],
    priority: -1,
    give: allOf({ run: workflowRun, stop: stopAsked, events: upTo(1, eventOut) }),
    run: ({ run, waiting: token }) => ({
      run,
      stop: { stopReason: 'budget_reached' as const },
      events: [
        {
          type: 'error' as const,
          invocationId: invocationOf?.(token) ?? run.invocationId,
          code: 'step_limit',
          message: `The workflow took all its steps and "${name}" is not done: it was ended. Raise maxSteps, or find out why it goes on.`,
        },
      ],
    }),
  });
}

/** What comes after a node. */
function routeOf({ name }: WorkflowNode, { edges, nodes }: WorkflowDefinition): Transition {
  const after = edges.filter(({ from }) => from === name);
  return pure(`node.route-${name}`, {
    take: { done: nodeDone(name), run: workflowRun },
    unless: [turnStopping],
    give: allOf({ run: workflowRun, ...readyOutputs(after, nodes) }),
    run: ({ done, run }) => {
      const { path: trail, output = null, route } = done;
      const taken = takenEdges(after, route);
      const outputs =
        taken.length === 0 && done.output !== undefined
          ? { ...run.outputs, [name]: done.output }
          : run.outputs;
      const ready: NodeReady = { input: output, trail };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return {
        run: { ...run, outputs },
        ...given(taken, nodes, name, ready, done),
      } as never;
    },
  });
}

function readyOutputs(edges: readonly WorkflowEdge[], nodes: readonly WorkflowNode[]): Outputs {
  return Object.fromEntries(
    edges.map(({ from, to }) => [
      `to-${to}`,
      isJoin(to, nodes) ? optional(joinInput(to, from)) : optional(nodeReady(to)),
    ]),
  );
}

function given(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNode[],
  from: string,
  ready: NodeReady,
  done: NodeDone,
): Readonly<Record<string, NodeReady | NodeDone>> {
  return Object.fromEntries(
    edges
      .filter((edge) => edge.from === from)
      .map(({ to }) => [`to-${to}`, isJoin(to, nodes) ? done : ready]),
  );
}

function isJoin(name: string, nodes: readonly WorkflowNode[]): boolean {
  return nodes.some((node) => node.name === name && node.kind === 'join');
}

function joinInputsOf({ nodes, edges }: WorkflowDefinition): readonly TokenPlace<NodeDone>[] {
  return edges.filter(({ to }) => isJoin(to, nodes)).map(({ from, to }) => joinInput(to, from));
}

/** Someone outside answers what a node asked: the answer is its output, or it goes on with it. */
function answer({ definition, speaking }: WorkflowRulesOptions): Transition {
  const functions = definition.nodes.flatMap((node) => (node.kind === 'function' ? [node] : []));
  const again = new Map(functions.map((node) => [node.name, node.rerunOnResume === true]));
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
    run: ({ parked, answer: said, waiting }) => {
      const { invocationId, callId } = parked;
      const resumed: readonly LogEntry[] =
        waiting.length > 0 ? [{ type: 'turn.resumed', invocationId }] : [];
      if (said.decision !== 'answered' || said.isUpdate === true) {
        const message = `Call "${callId}" waits for an answer: give it one.`;
        const error: LogEntry = { type: 'error', invocationId, code: 'answer_refused', message };
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
        return { refused: { parked, events: [...resumed, error] } } as never;
      }
      const { node, step } = askedBy(parked);
      const value = valueOf(said);
      const events = [...resumed, ...answeredEvents(speaking(node), parked, said)];
      const index = String(step.yielded - 1);
      const next =
        again.get(node) === true
          ? {
              ...step,
              answers: { ...step.answers, [callId]: value },
              replies: { ...step.replies, [index]: value },
            }
          : {
              path: step.path,
              output: value,
              ...(step.route !== undefined && { route: step.route }),
            };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return { [node]: { next, events } } as never;
    },
  });
}

/** A bare value comes as `{ result }`. */
function valueOf({ response = {} }: Answer): Json {
  const keys = Object.keys(response);
  return keys.length === 1 && keys[0] === 'result' ? (response['result'] ?? null) : response;
}

function answeredEvents(
  speaking: Speaking,
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
      ...(message !== undefined && { message }),
    },
    resultEvent(speaking, result),
  ];
}

/** The workflow is done when no node has anything to do. */
function end({ definition, ends, busy }: WorkflowRulesOptions): Transition {
  const joins = joinInputsOf(definition);
  const asks = definition.nodes.some(({ kind }) => kind === 'function');
  return pure('workflow.end', {
    take: {
      run: workflowRun,
      ...(Object.fromEntries(joins.map((place) => [place.name, all(place, { min: 0 })])) as Record<
        never,
        never
      >),
    },
    unless: [...busy, ...(asks ? [toolParked] : []), turnStopping],
    priority: -1,
    give: allOf({ ending: ends, events: upTo(1, eventOut) }),
    run: ({ run, ...left }) => {
      const { invocationId, round, outputs, escalate, stopReason = 'end_turn' } = run;
      const waiting = Object.entries<readonly NodeDone[]>(left);
      const stuck = waiting.flatMap(([name, tokens]) => (tokens.length > 0 ? [name] : []));
      const output = outputOf(outputs);
      const message = `The workflow "${definition.name}" ended while a join still waited: ${stuck.join(', ')} came, and others did not.`;
      return {
        ending: {
          stopReason,
          invocationId,
          round,
          ...(escalate === true && { escalate }),
          ...(output !== undefined && { output }),
        },
        events:
          stuck.length === 0
            ? []
            : [{ type: 'error' as const, invocationId, code: 'join_incomplete', message }],
      };
    },
  });
}

/** What the last node gave; of several, all by their names. */
function outputOf(outputs: JsonObject): Json | undefined {
  const values = Object.values(outputs);
  return values.length > 1 ? outputs : values[0];
}
