import type { Json, JsonObject } from '../core/index.ts';
import { all, allOf, append, pure, running, upTo } from '../net/index.ts';
import type { AnyPlace, TokenPlace, Transition } from '../net/index.ts';
import type { NodeGiven } from './node-event.ts';
import { commonTrail, nodePath } from './node-path.ts';
import { nodeInfoOf, sayingOf, textContent } from './node-saying.ts';
import { conversation, doneOf, eventOut, stopAsked, targetOf, turnStopping } from './places.ts';
import type { ConversationItem } from './places.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import { takenEdges } from './workflow-definition.ts';
import type { WorkflowDefinition, WorkflowNode } from './workflow-definition.ts';
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
import type { WorkflowRulesOptions } from './workflow-rules-options.ts';

/** More items than this in one list are refused. */
const MAX_ITEMS = 1000;

/** How a node begins: at once, as an agent, as a list, or when all before it are done. */
export function startsOf(node: WorkflowNode, options: WorkflowRulesOptions): readonly Transition[] {
  switch (node.kind) {
    case 'function':
      return startFunction(node.name);
    case 'agent':
      return startAgent(node, options);
    case 'each':
    case 'each-agent':
      return startEach(node.name, options);
    case 'join':
      return [join(node.name, options)];
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
        const { output = outputOf?.(text) ?? text, round = 0, escalate, stopReason, route } = ended;
        const first = run.stopReason ?? (stopReason === 'end_turn' ? undefined : stopReason);
        return {
          done: { path, output, ...(route !== undefined && { route }) },
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

function startEach(
  name: string,
  { definition, speaking }: WorkflowRulesOptions,
): readonly Transition[] {
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
      give: allOf({
        done: nodeDone(name),
        said: append(conversation),
        events: upTo(1, eventOut),
      }),
      run: ({ waiting, results }) => {
        const output = results.toSorted((a, b) => a.index - b.index).map((one) => one.output);
        const told = sayingOf(speaking(name), waiting, shownOutput(name, output, definition));
        return { done: { path: waiting.path, output }, ...told };
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

function join(name: string, { definition, speaking }: WorkflowRulesOptions): Transition {
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
      const trail = commonTrail(Object.values(parts).map(({ path }) => path));
      const count = (run.runs[name] ?? 0) + 1;
      const path = nodePath(trail, name, count);
      const where = { invocationId: run.invocationId, path, runId: String(count) };
      return {
        done: { path, output },
        run: { ...run, runs: { ...run.runs, [name]: count } },
        ...sayingOf(speaking(name), where, shownOutput(name, output, definition)),
      };
    },
  });
}

/** What a node gives, as words too when nothing comes after it. */
function shownOutput(name: string, output: Json, { edges }: WorkflowDefinition): NodeGiven {
  const isLast = takenEdges(
    edges.filter(({ from }) => from === name),
    undefined,
  );
  return { output, ...(isLast.length === 0 && { content: textContent(output) }) };
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
