import type { Json, LogEntry, Route } from '../core/index.ts';
import { allOf, append, effect, oneOf, upTo } from '../net/index.ts';
import type { Effect, EffectFailure } from '../net/index.ts';
import type { StateWrites } from '../tools/index.ts';
import type { OpenedCallbackContext } from './callback-context.ts';
import { runChild } from './host.ts';
import { writeOf } from './state-change.ts';
import { RequestInput } from './node-event.ts';
import { NodeScope } from './node-context.ts';
import type { NodeScopeNow } from './node-context.ts';
import { endNode, NodeRuns } from './node-runs.ts';
import type { NodeGenerator } from './node-runs.ts';
import {
  conversation,
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  toolParked,
  turnStopping,
} from './places.ts';
import type { ConversationItem, SessionWrite } from './places.ts';
import type { Speaking } from './speaking.ts';
import { userContentOf } from './user-content.ts';
import type { EachAgentNode, EachNode, FunctionNode } from './workflow-definition.ts';
import { itemDone, nodeDone, nodeItem, nodeStep, workflowBudget } from './workflow-places.ts';
import type { NodeDone, NodeStep } from './workflow-places.ts';
import {
  allGiven,
  asJson,
  checkedOutput,
  generatorOf,
  givenBy,
  replyOf,
  skipped,
} from './node-given.ts';
import { inputEvent, parkedBy } from './node-question.ts';
import { sayingOf } from './node-saying.ts';

export interface NodeEffectOptions {
  /** The node, and where it speaks. */
  readonly speaking: Speaking;
  /** Whether nothing comes after it, when it gives this route: what it gives is shown. */
  readonly isLast: (route: Route | undefined) => boolean;
  readonly checkState?: ((writes: StateWrites) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 300_000;

const DEFAULT_AT_ONCE = 8;

const told = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
} as const;

/** The effect that runs a function to its end, or to its next yield. */
export function functionEffect(
  node: FunctionNode,
  options: NodeEffectOptions,
): Effect<{
  readonly step: ReturnType<typeof nodeStep>;
  readonly budget: typeof workflowBudget;
}> {
  const { name, rerunOnResume, timeoutMs = DEFAULT_TIMEOUT_MS, retry } = node;
  const { speaking } = options;
  const runs = new NodeRuns();
  return effect(`node.run-${name}`, {
    take: { step: nodeStep(name), budget: workflowBudget },
    read: { conversation, state },
    unless: [turnStopping],
    give: oneOf({
      said: allOf({ next: nodeStep(name), ...told }),
      done: allOf({ done: nodeDone(name), ...told }),
      // It waits for an answer from outside.
      asks: allOf({ parked: toolParked, ...told }),
      stopped: allOf({ stop: stopAsked, ...told }),
    }),
    timeoutMs,
    ...(retry !== undefined && { retry }),
    onCrash: rerunOnResume === false ? 'unknown' : 'rerun',
    failed: (failure, { step }) => ({ stopped: failedNode(name, step, failure) }),
    run: async ({ step, conversation: lines, state: entries }, effectContext) => {
      const { host, signal, firingId } = effectContext;
      const { invocationId, activation, yielded } = step;
      const userContent = userContentOf(lines, invocationId);
      const here: NodeScopeNow = { step, userContent, state: entries, effect: effectContext };
      const kept = runs.take(host, invocationId, activation, yielded);
      const scope = kept?.scope ?? new NodeScope(speaking, here);
      let opened = scope.enter(here);
      let generator = kept?.generator;
      let next: IteratorResult<unknown, unknown>;
      if (generator === undefined) {
        const made = node.run(scope.context, inputOf(node, step.input));
        generator = generatorOf(made);
        if (generator === undefined) next = { done: true, value: await made };
        else {
          signal.addEventListener('abort', endOnce(generator), { once: true });
          // What it does on the way to where it stood counts no second time.
          await skipped(name, generator, step);
          opened = scope.enter(here);
          next = await generator.next(replyOf(step, yielded));
        }
      } else {
        signal.addEventListener('abort', endOnce(generator), { once: true });
        next = await generator.next(replyOf(step, yielded));
      }
      const { value } = next;
      if (value instanceof RequestInput) {
        const callId = value.interruptId ?? `input-${firingId}`;
        if (generator !== undefined) {
          if (rerunOnResume === true)
            runs.keep(host, invocationId, activation, { generator, scope, yielded: yielded + 1 });
          else endNode(generator);
        }
        const after: NodeStep = {
          ...step,
          yielded: generator === undefined ? yielded : yielded + 1,
        };
        const { write, acted } = takeChecked(name, opened, options);
        const asked = inputEvent(speaking, step, callId, value);
        const parked = parkedBy(name, callId, value, after);
        return { asks: { parked, said: [], events: [...acted, asked], write } };
      }
      const given = givenBy(name, value);
      const { output, words } = checkedOutput(node, given, step);
      for (const [key, entry] of Object.entries(given.state ?? {}))
        opened.context.state.set(key, entry);
      const { write, actions, acted } = takeChecked(name, opened, options);
      const route = given.route ?? step.route;
      const { endOfAgent, escalate = step.escalate } = given.shown ?? {};
      const isDone = next.done === true || endOfAgent === true;
      const isLast = isDone && options.isLast(route);
      const shown = isLast && given.content === undefined ? words : given.content;
      const said = sayingOf(speaking, step, {
        ...given,
        ...(given.output !== undefined && output !== undefined && { output }),
        ...(shown !== undefined && { content: shown }),
      });
      const all = { said: said.said, events: [...acted, ...said.events], write };
      if (generator !== undefined && isDone) endNode(generator);
      if (actions.endInvocation === true || given.endInvocation === true) {
        if (generator !== undefined) endNode(generator);
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...all } };
      }
      const now = {
        ...(output !== undefined && { output }),
        ...(route !== undefined && { route }),
        ...(escalate === true && { escalate }),
      };
      if (isDone || generator === undefined) {
        const done: NodeDone = { path: step.path, ...now };
        return { done: { done, ...all } };
      }
      runs.keep(host, invocationId, activation, { generator, scope, yielded: yielded + 1 });
      return { said: { next: { ...step, ...now, yielded: yielded + 1 }, ...all } };
    },
  });
}

/** The effect that works on one item of a list: by a function, or by an agent in a session of its own. */
export function itemEffect(
  node: EachNode | EachAgentNode,
  options: NodeEffectOptions,
): Effect<{ readonly item: ReturnType<typeof nodeItem> }> {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS, retry, maxAtOnce = DEFAULT_AT_ONCE } = node;
  const { speaking, checkState } = options;
  return effect(`node.run-${name}`, {
    take: { item: nodeItem(name) },
    read: { conversation, state },
    unless: [turnStopping],
    concurrency: maxAtOnce,
    give: oneOf({
      done: allOf({ result: itemDone(name), ...told }),
      stopped: allOf({ stop: stopAsked, ...told }),
    }),
    timeoutMs,
    ...(retry !== undefined && { retry }),
    onCrash: 'rerunOnResume' in node && !node.rerunOnResume ? 'unknown' : 'rerun',
    failed: (failure, { item }) => ({ stopped: failedNode(name, item, failure) }),
    run: async ({ item, conversation: lines, state: entries }, effectContext) => {
      const { index, input, invocationId } = item;
      if (node.kind === 'each-agent') {
        const { host, firingId, signal } = effectContext;
        const request = typeof input === 'string' ? input : JSON.stringify(input);
        const answered = await runChild(host, {
          agentName: node.agent.name,
          request,
          firingId,
          signal,
          invocationId,
          state: entries,
          parks: false,
        });
        if (answered.kind === 'waiting') throw new Error('A node that does not park waits.');
        const { response, stateDelta, removed } = answered;
        const output = response['result'] ?? null;
        const changed = { set: stateDelta, delete: removed, increment: {}, append: {}, read: [] };
        checkState?.(changed);
        const write = writeOf(changed, entries);
        return {
          done: {
            result: { index, output },
            said: [],
            events: [],
            write: write === undefined ? [] : [{ ...write, invocationId }],
          },
        };
      }
      const userContent = userContentOf(lines, invocationId);
      const here: NodeScopeNow = { step: item, userContent, state: entries, effect: effectContext };
      const scope = new NodeScope(speaking, here);
      const opened = scope.enter(here);
      const given = await allGiven(name, node.run, scope, inputOf(node, input));
      const { output = null } = checkedOutput(node, given, item);
      for (const [key, entry] of Object.entries(given.state ?? {}))
        opened.context.state.set(key, entry);
      const { write, actions, acted } = takeChecked(name, opened, options);
      // Its output is an item of the node's, which is told when all are there.
      const { output: _, endInvocation, ...words } = given;
      const said = sayingOf(speaking, item, words);
      const all = { said: said.said, events: [...acted, ...said.events], write };
      return actions.endInvocation === true || endInvocation === true
        ? { stopped: { stop: { stopReason: 'end_turn' as const }, ...all } }
        : { done: { result: { index, output }, ...all } };
    },
  });
}

function inputOf({ parseInput }: FunctionNode | EachNode, input: Json): Json {
  return parseInput === undefined ? input : parseInput(input);
}

function failedNode(
  name: string,
  { invocationId }: NodeStep,
  { kind, message }: EffectFailure,
): {
  readonly stop: { readonly stopReason: 'error' };
  readonly said: readonly ConversationItem[];
  readonly events: readonly LogEntry[];
  readonly write: readonly SessionWrite[];
} {
  const reason =
    kind === 'unknown'
      ? `its process died while it ran, and it may not run again: ${message}`
      : message;
  const text = `Node "${name}" failed: ${reason}`;
  return {
    stop: { stopReason: 'error' },
    said: [],
    events: [{ type: 'error', invocationId, code: 'node_failed', message: text }],
    write: [],
  };
}

function takeChecked(
  name: string,
  opened: OpenedCallbackContext,
  { checkState }: NodeEffectOptions,
): ReturnType<OpenedCallbackContext['take']> {
  const taken = opened.take();
  for (const { writes } of taken.write) {
    const { set = {}, delete: removed = [], increment = {}, append: appended = {} } = writes;
    checkState?.({
      set: asJson(set, name),
      delete: removed,
      increment,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they come from a buffer of JSON
      append: appended as StateWrites['append'],
      read: [],
    });
  }
  return taken;
}

function endOnce(generator: NodeGenerator): () => void {
  return () => endNode(generator);
}
