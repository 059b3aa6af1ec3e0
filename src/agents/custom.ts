import { InvalidInputError, parseContent } from '../core/index.ts';
import type { Content } from '../core/index.ts';
import { allOf, append, effect, oneOf, pure, upTo } from '../net/index.ts';
import type { TokenPlace, Transition } from '../net/index.ts';
import { wordsOf } from './agent-callbacks.ts';
import { checkAgentName } from './agent-name.ts';
import type { Agent, AgentRole } from './agent.ts';
import { composeAgents } from './compose-agents.ts';
import type { CustomContext } from './custom-context.ts';
import { CustomRuns, end } from './custom-runs.ts';
import type { CustomGenerator, CustomReply, CustomYield, SubAgentRun } from './custom-runs.ts';
import { CustomScope } from './custom-scope.ts';
import { customBudget, customStep, customWaiting } from './flow-places.ts';
import type { CustomStep } from './flow-places.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { flowUnit } from './flow-unit.ts';
import {
  conversation,
  doneOf,
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  targetOf,
  turnStopping,
} from './places.ts';
import type { Ending, ModelCall } from './places.ts';
import type { Speaking } from './speaking.ts';

/** What a custom agent does, which agents it may run, and how far it may go in one turn. */
export interface CustomDefinition extends Omit<FlowDefinition, 'subAgents'> {
  readonly subAgents?: readonly Agent[];
  /**
   * Yields what it says, text or content. It goes on after a yield when that is committed. After a crash it runs again
   * from its beginning, and what it had yielded is skipped: what it does between two yields may happen twice.
   */
  readonly run: (context: CustomContext) => CustomGenerator;
  /** How often it may yield in one turn; 100 unless said. */
  readonly maxYields?: number;
  /** How long it may take between two yields; 5 minutes unless said. */
  readonly timeoutMs?: number;
}

const DEFAULT_MAX_YIELDS = 100;
const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * An agent that is a generator: each step between two yields is an effect, each yield a commit.
 * @throws InvalidInputError, NetBuildError
 */
export function custom(definition: CustomDefinition): Agent {
  const { name, maxYields = DEFAULT_MAX_YIELDS } = definition;
  checkAgentName(name);
  if (!Number.isInteger(maxYields) || maxYields < 1 || maxYields > 10_000)
    throw new InvalidInputError(
      'maxYields',
      `must be a whole number from 1 to 10000; it is ${maxYields}.`,
    );
  return composeAgents(definition, customRole(definition, maxYields));
}

function customRole(definition: CustomDefinition, maxYields: number): AgentRole {
  const { name, subAgents = [], callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  return {
    kind: 'custom',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    subPlacement: (index, { among }) => ({ among, done: doneOf(names[index] ?? '') }),
    unitAt: (placement) =>
      flowUnit(
        {
          kind: 'custom',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [...names.map(targetOf), ...names.map(doneOf)],
          dropped: names.length > 0 ? [customStep, customWaiting] : [customStep],
          budgets: [customBudget],
          transitions: (between) => [
            begin(between.begins, maxYields),
            step(definition, names, between),
            ...names.map(resume),
            finish(name, maxYields, between.ends),
          ],
        },
        placement,
      ),
  };
}

function begin(from: TokenPlace<ModelCall>, maxYields: number): Transition {
  return pure('agent.begin', {
    take: { start: from },
    unless: [turnStopping],
    reset: [customBudget],
    give: allOf({ step: customStep, budget: upTo(maxYields + 1, customBudget) }),
    run: ({ start }, { firingId }) => ({
      step: { ...start, activation: firingId, yielded: 0, replies: [] },
      // One more: the step after the last yield, in which it returns.
      budget: Array.from({ length: maxYields + 1 }, () => null),
    }),
  });
}

function finish(name: string, maxYields: number, ends: TokenPlace<Ending>): Transition {
  return pure('custom.finish', {
    take: { step: customStep },
    unless: [customBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: ends, events: upTo(1, eventOut) }),
    run: ({ step }) => ({
      ending: { ...endingOf(step), stopReason: 'budget_reached' },
      events: [
        {
          type: 'error',
          invocationId: step.invocationId,
          code: 'yield_limit',
          message: `"${name}" yielded ${maxYields} times in one turn and is not done: it was ended.`,
        },
      ],
    }),
  });
}

function resume(sub: string): Transition {
  return pure(`custom.resume-${sub}`, {
    take: { waiting: customWaiting, done: doneOf(sub) },
    unless: [turnStopping],
    give: allOf({ next: customStep }),
    run: ({ waiting, done: { stopReason, escalate, round = waiting.round } }) => ({
      next: {
        ...waiting,
        round,
        replies: [...waiting.replies, { stopReason, ...(escalate === true && { escalate }) }],
      },
    }),
  });
}

/** Runs the generator to its next yield. */
function step(
  { run, timeoutMs = DEFAULT_TIMEOUT_MS }: CustomDefinition,
  names: readonly string[],
  { ends, speaking }: { readonly ends: TokenPlace<Ending>; readonly speaking: Speaking },
): Transition {
  const runs = new CustomRuns<CustomScope>();
  const toAgents = Object.fromEntries(
    names.map((sub) => [
      `target/${sub}`,
      allOf({
        start: targetOf(sub),
        waiting: customWaiting,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
    ]),
  );
  const own = {
    said: allOf({
      next: customStep,
      said: append(conversation),
      events: upTo(2, eventOut),
      write: upTo(1, sessionWrite),
    }),
    done: allOf({ ending: ends, events: upTo(1, eventOut), write: upTo(1, sessionWrite) }),
    stopped: allOf({
      stop: stopAsked,
      said: append(conversation),
      events: upTo(2, eventOut),
      write: upTo(1, sessionWrite),
    }),
  };
  return effect('custom.step', {
    take: { step: customStep, budget: customBudget },
    read: { conversation, state },
    unless: [turnStopping],
    // The agents it may run are known where it is made, and no type can name them.
    give: oneOf<typeof own>({ ...toAgents, ...own }),
    timeoutMs,
    onCrash: 'rerun',
    failed: ({ message }, { step: { invocationId } }) => ({
      stopped: {
        stop: { stopReason: 'error' as const },
        events: [{ type: 'error' as const, invocationId, code: 'agent_failed', message }],
      },
    }),
    run: async ({ step: at, conversation: said, state: entries }, effectContext) => {
      const { activation, yielded, invocationId, round } = at;
      const { host, signal } = effectContext;
      const here = { invocationId, conversation: said, state: entries, effect: effectContext };
      const kept = runs.take(host, activation, yielded);
      const scope = kept?.scope ?? new CustomScope(speaking, names, here);
      const generator = kept?.generator ?? run(scope.context);
      signal.addEventListener('abort', () => end(generator), { once: true });
      // What it does on the way to where it stood counts no second time.
      if (kept === undefined) await skipped(generator, at);
      const { take } = scope.enter(speaking, here);
      const next = await generator.next(replyOf(at, yielded));
      const { write, actions, acted } = take();
      const now: CustomStep = {
        ...at,
        yielded: yielded + 1,
        ...(actions.escalate === true && { escalate: true }),
      };
      const runsSub = next.done !== true && isRun(next.value) ? next.value.runs : undefined;
      const content = next.done === true || isRun(next.value) ? undefined : contentOf(next.value);
      const told = wordsOf(speaking, invocationId, content);
      const words = { said: told.said, events: [...told.events, ...acted], write };
      if (actions.endInvocation === true) {
        end(generator);
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...words } };
      }
      if (next.done === true) return { done: { ending: endingOf(now), events: acted, write } };
      runs.keep(host, activation, { generator, scope, yielded: yielded + 1 });
      if (runsSub === undefined)
        return { said: { next: { ...now, replies: [...now.replies, null] }, ...words } };
      const start: ModelCall = { invocationId, round };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of `toAgents`: `context.run` refuses every other name
      return { [`target/${runsSub}`]: { start, waiting: now, events: acted, write } } as never;
    },
  });
}

/** Runs a generator over what it had yielded already. @throws Error when it yields less than it did */
async function skipped(generator: CustomGenerator, at: CustomStep): Promise<void> {
  for (let index = 0; index < at.yielded; index++) {
    const { done } = await generator.next(replyOf(at, index));
    if (done === true)
      throw new Error(
        `It ended after ${index} yields, and had yielded ${at.yielded} before a crash.`,
      );
  }
}

/** What the generator gets back for the yield before this one. */
function replyOf({ replies }: CustomStep, yielded: number): CustomReply | undefined {
  return replies[yielded - 1] ?? undefined;
}

function isRun(value: CustomYield): value is SubAgentRun {
  return typeof value === 'object' && 'runs' in value;
}

function contentOf(value: string | Content): Content {
  return typeof value === 'string'
    ? { role: 'model', parts: [{ text: value }] }
    : parseContent({ ...value, role: 'model' }, { unknownParts: 'keep' });
}

function endingOf({ invocationId, round, escalate }: CustomStep): Ending {
  return {
    stopReason: 'end_turn',
    invocationId,
    round,
    ...(escalate === true && { escalate }),
  };
}
