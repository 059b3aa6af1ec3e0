import { mergeWrites, omitUndefined } from '../../core/internal.ts';
import type { Json, LogEntry, Route, StateWrites } from '../../core/index.ts';
import { allOf, append, effect, oneOf, upTo } from '../../net/index.ts';
import type { Effect, EffectFailure } from '../../net/index.ts';
import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import { runChildAgent } from '../vocabulary/agent-host.ts';
import { toSessionWrite } from '../state/session-write.ts';
import { RequestInput } from './node-event.ts';
import { LiveNodeContext } from './node-context.ts';
import type { NodeStepContext } from './node-context.ts';
import { endNodeGenerator, NodeGeneratorCache } from './node-generator-cache.ts';
import type { NodeGenerator } from './node-generator-cache.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { findUserContent } from '../vocabulary/find-user-content.ts';
import type {
  EachAgentNodeDefinition,
  EachNodeDefinition,
  FunctionNodeDefinition,
} from './workflow-definition.ts';
import { itemDone, nodeDone, nodeItem, nodeStep, workflowBudget } from './workflow-places.ts';
import type { NodeDone, NodeStep } from './workflow-places.ts';
import {
  collectNodeResult,
  validateOutput,
  toGenerator,
  parseNodeResult,
  findReply,
  replayYields,
} from './node-result.ts';
import { inputRequestEvent, toParkedInputRequest } from './input-request.ts';
import { nodeMessage } from './node-message.ts';

/** Options of the effects that run nodes. */
export interface NodeEffectOptions {
  /** The node as the author of its messages, with its branch. */
  readonly identity: AgentIdentity;
  /** Whether no edge follows the node with this route. The output of a last node is shown to the user. */
  readonly isLast: (route: Route | undefined) => boolean;
  /** Throws when the node may not write these values to state. */
  readonly checkState?: ((writes: StateWrites) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 300_000;

const DEFAULT_MAX_AT_ONCE = 8;

const sharedOutputs = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
} as const;

/** The effect that runs a function node to its end, or to its next yield. */
export function functionEffect(
  node: FunctionNodeDefinition,
  options: NodeEffectOptions,
): Effect<{
  readonly step: ReturnType<typeof nodeStep>;
  readonly budget: typeof workflowBudget;
}> {
  const { name, rerunOnResume, timeoutMs = DEFAULT_TIMEOUT_MS, retry } = node;
  const { identity } = options;
  const generators = new NodeGeneratorCache();
  return effect(`node.run-${name}`, {
    take: { step: nodeStep(name), budget: workflowBudget },
    read: { conversation, state },
    unless: [turnStopping],
    give: oneOf({
      said: allOf({ next: nodeStep(name), ...sharedOutputs }),
      done: allOf({ done: nodeDone(name), ...sharedOutputs }),
      // The node waits for an answer from outside.
      asks: allOf({ parked: toolParked, ...sharedOutputs }),
      stopped: allOf({ stop: stopRequested, ...sharedOutputs }),
    }),
    timeoutMs,
    ...omitUndefined({ retry }),
    onCrash: rerunOnResume === false ? 'unknown' : 'rerun',
    failed: (failure, { step }) => ({ stopped: nodeFailed(name, step, failure) }),
    run: async ({ step, conversation: lines, state: entries }, effectContext) => {
      const { host, signal, firingId } = effectContext;
      const { invocationId, activation, yielded } = step;
      const userContent = findUserContent(lines, invocationId);
      const stepContext: NodeStepContext = {
        step,
        userContent,
        state: entries,
        effect: effectContext,
      };
      const cached = generators.take(host, invocationId, activation, yielded);
      const liveContext = cached?.liveContext ?? new LiveNodeContext(identity, stepContext);
      let opened = liveContext.enterStep(stepContext);
      let generator = cached?.generator;
      let next: IteratorResult<unknown, unknown>;
      if (generator === undefined) {
        const made = node.run(liveContext.context, parseNodeInput(node, step.input));
        generator = toGenerator(made);
        if (generator === undefined) next = { done: true, value: await made };
        else {
          signal.addEventListener('abort', endOnAbort(generator), { once: true });
          // Writes and actions of the replay were committed before, so they are dropped: a new step is opened afterwards.
          await replayYields(name, generator, step);
          opened = liveContext.enterStep(stepContext);
          next = await generator.next(findReply(step, yielded));
        }
      } else {
        signal.addEventListener('abort', endOnAbort(generator), { once: true });
        next = await generator.next(findReply(step, yielded));
      }
      const { value } = next;
      if (value instanceof RequestInput) {
        const callId = value.interruptId ?? `input-${firingId}`;
        if (generator !== undefined) {
          if (rerunOnResume === true)
            generators.keep(host, invocationId, activation, {
              generator,
              liveContext,
              yielded: yielded + 1,
            });
          else endNodeGenerator(generator);
        }
        const after: NodeStep = {
          ...step,
          yielded: generator === undefined ? yielded : yielded + 1,
        };
        const { write, actionEvents } = takeChecked(opened, options);
        const requestEvent = inputRequestEvent(identity, step, callId, value);
        const parked = toParkedInputRequest(name, callId, value, after);
        return { asks: { parked, said: [], events: [...actionEvents, requestEvent], write } };
      }
      const result = parseNodeResult(name, value);
      const { output, content: outputContent } = validateOutput(node, result, step);
      for (const [key, entry] of Object.entries(result.state ?? {}))
        opened.context.state.set(key, entry);
      const { write, actions, actionEvents } = takeChecked(opened, options);
      const route = result.route ?? step.route;
      const { endOfAgent, escalate = step.escalate } = result.shown ?? {};
      const isDone = next.done === true || endOfAgent === true;
      const isLast = isDone && options.isLast(route);
      const visible = isLast && result.content === undefined ? outputContent : result.content;
      const messageOutputs = nodeMessage(identity, step, {
        ...result,
        ...omitUndefined({
          output: result.output !== undefined && output !== undefined ? output : undefined,
          content: visible,
        }),
      });
      const outputs = {
        said: messageOutputs.said,
        events: [...actionEvents, ...messageOutputs.events],
        write,
      };
      if (generator !== undefined && isDone) endNodeGenerator(generator);
      if (actions.endInvocation === true || result.endInvocation === true) {
        if (generator !== undefined) endNodeGenerator(generator);
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
      }
      const progress = omitUndefined({
        output,
        route,
        escalate: escalate === true ? escalate : undefined,
      });
      if (isDone || generator === undefined) {
        const done: NodeDone = { path: step.path, ...progress };
        return { done: { done, ...outputs } };
      }
      generators.keep(host, invocationId, activation, {
        generator,
        liveContext,
        yielded: yielded + 1,
      });
      return { said: { next: { ...step, ...progress, yielded: yielded + 1 }, ...outputs } };
    },
  });
}

/** The effect that processes one item of a list: with a function, or with an agent in a child session. */
export function itemEffect(
  node: EachNodeDefinition | EachAgentNodeDefinition,
  options: NodeEffectOptions,
): Effect<{ readonly item: ReturnType<typeof nodeItem> }> {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS, retry, maxAtOnce = DEFAULT_MAX_AT_ONCE } = node;
  const { identity, checkState } = options;
  return effect(`node.run-${name}`, {
    take: { item: nodeItem(name) },
    read: { conversation, state },
    unless: [turnStopping],
    concurrency: maxAtOnce,
    give: oneOf({
      done: allOf({ result: itemDone(name), ...sharedOutputs }),
      stopped: allOf({ stop: stopRequested, ...sharedOutputs }),
    }),
    timeoutMs,
    ...omitUndefined({ retry }),
    onCrash: 'rerunOnResume' in node && !node.rerunOnResume ? 'unknown' : 'rerun',
    failed: (failure, { item }) => ({ stopped: nodeFailed(name, item, failure) }),
    run: async ({ item, conversation: lines, state: entries }, effectContext) => {
      const { index, input, invocationId } = item;
      if (node.kind === 'each-agent') {
        const { host, firingId, signal } = effectContext;
        const request = typeof input === 'string' ? input : JSON.stringify(input);
        const childOutcome = await runChildAgent(host, {
          agentName: node.agent.name,
          request,
          firingId,
          signal,
          invocationId,
          state: entries,
          parks: false,
        });
        if (childOutcome.kind === 'waiting')
          throw new Error('runChildAgent returned `waiting` for a request with `parks: false`.');
        const { response, stateDelta, removed } = childOutcome;
        const output = response['result'] ?? null;
        const writes = mergeWrites({ set: stateDelta, delete: removed });
        checkState?.(writes);
        const write = toSessionWrite({ ...writes, read: [] }, entries);
        return {
          done: {
            result: { index, output },
            said: [],
            events: [],
            write: write === undefined ? [] : [{ ...write, invocationId }],
          },
        };
      }
      const userContent = findUserContent(lines, invocationId);
      const stepContext: NodeStepContext = {
        step: item,
        userContent,
        state: entries,
        effect: effectContext,
      };
      const liveContext = new LiveNodeContext(identity, stepContext);
      const opened = liveContext.enterStep(stepContext);
      const result = await collectNodeResult(
        name,
        node.run,
        liveContext,
        parseNodeInput(node, input),
      );
      const { output = null } = validateOutput(node, result, item);
      for (const [key, entry] of Object.entries(result.state ?? {}))
        opened.context.state.set(key, entry);
      const { write, actions, actionEvents } = takeChecked(opened, options);
      // The output is one item of the node's output, which is logged when all items are done.
      const { output: _, endInvocation, ...itemResult } = result;
      const messageOutputs = nodeMessage(identity, item, itemResult);
      const outputs = {
        said: messageOutputs.said,
        events: [...actionEvents, ...messageOutputs.events],
        write,
      };
      return actions.endInvocation === true || endInvocation === true
        ? { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } }
        : { done: { result: { index, output }, ...outputs } };
    },
  });
}

function parseNodeInput(
  { parseInput }: FunctionNodeDefinition | EachNodeDefinition,
  input: Json,
): Json {
  return parseInput === undefined ? input : parseInput(input);
}

function nodeFailed(
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
      ? `its process died while it ran, and rerunOnResume is false: ${message}`
      : message;
  const text = `Node "${name}" failed: ${reason}`;
  return {
    stop: { stopReason: 'error' },
    said: [],
    events: [
      {
        type: 'error',
        invocationId,
        /**
         * A node of a workflow threw, took too long, or its process died while it ran and `rerunOnResume` is false.
         * @remedy Correct the node that the message names.
         */
        code: 'node_failed',
        message: text,
      },
    ],
    write: [],
  };
}

function takeChecked(
  opened: OpenedCallbackContext,
  { checkState }: NodeEffectOptions,
): ReturnType<OpenedCallbackContext['take']> {
  const taken = opened.take();
  for (const { writes } of taken.write) checkState?.(writes);
  return taken;
}

function endOnAbort(generator: NodeGenerator): () => void {
  return () => endNodeGenerator(generator);
}
