import { omitUndefined } from '../../core/internal.ts';
import {
  atMost,
  deadlockFree,
  everyNodeReachable,
  joinsComplete,
  noFireAfterEndInvocation,
  noToolAfterInterrupt,
  placeBound,
  precedes,
  reaskBudgetIsBounded,
} from '../../verify/index.ts';
import { isInAnyScope } from '../../net/internal.ts';
import type { Bounds, ComponentTree, Property } from '../../verify/index.ts';
import { listRunnableTools } from '../tool-calls/call-labels.ts';
import { agentComponents, isSingleAgent } from './agent-components.ts';
import type { Agent } from '../agent/agent.ts';
import { listRestingMarkings } from './resting-markings.ts';
import { customBudget } from '../custom/custom-places.ts';
import { loopBudget } from '../kinds/loop.ts';
import { outcomeGrading, outcomeIn, outcomeRound } from '../outcomes/outcome-places.ts';
import { eventIn } from '../vocabulary/appended-event.ts';
import { userIn } from '../vocabulary/messages.ts';
import { turnBudget, turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { archiveIn, completeIn, pauseIn, resumeIn } from '../vocabulary/session.ts';
import { modelRescheduled } from '../vocabulary/model-call.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { workflowBudget } from '../workflow/workflow-places.ts';
import { countWorkflowRuns, takesStep } from './workflow-runs.ts';

/** The bounds of an agent's proof. Everything else is unbounded: the order of events, and the declared outcomes. */
export interface AgentProofLimits {
  /** The number of user messages. Every other input from outside arrives once. Default: 1. */
  readonly messages?: number;
  /**
   * The most tool calls of one answer, and re-asks of one turn. The budget of a workflow is at least the number of
   * steps that its nodes take together. Default: 2.
   */
  readonly atOnce?: number;
  /** How often the code of a transition may fail. Default: 1. */
  readonly faults?: number;
  /** Whether the owner may shut down at any time and another owner continue. Default: false. */
  readonly shutdowns?: boolean;
  /** The search gives up after this many states. Default: 1,000,000. */
  readonly states?: number;
  /**
   * Whether the session is also paused, resumed, completed and archived, and an event is appended, once each. Meant for
   * a session of one agent. There, an outcome is also defined, if the agent has the option `outcomes`. Default: false.
   */
  readonly control?: boolean;
  /** Places that may hold tokens in a quiescent state, in addition to those of the agent. */
  readonly quiescentPlaces?: readonly string[];
}

/** The properties to prove of an agent, and the bounds of the proof. */
export interface AgentProof {
  /**
   * The properties by name: `deadlockFree`, `oneTurn`, `noFireAfterEndInvocation`, `reaskBudgetIsBounded` (with several
   * agents one for each, such as `reaskBudgetIsBounded/billing`), `loopIsBounded/…`, `yieldsAreBounded/…`,
   * `stepsAreBounded/…`, `transfersAreBounded`, `joinsComplete/…` for each workflow with a join, `everyNodeReachable/…`
   * for each workflow, `noToolAfterInterrupt` for agents that run tools, `approved/…` for each tool that always needs an
   * approval, such as `approved/charge` or `approved/billing/charge`. A property is left out if the net does not have its places.
   */
  readonly properties: Readonly<Record<string, Property>>;
  readonly bounds: Bounds;
  /** The agents of the session as components with contracts. */
  readonly components: ComponentTree;
}

/** The inputs of session control, appended events and outcomes. */
const sessionInputs = [pauseIn, resumeIn, archiveIn, completeIn, eventIn, outcomeIn];

const MODEL_CALL = 'model.call';
const TOOL_RUN = 'tool.run';
const TOOL_ANSWER = 'tool.answer';
const INTERRUPT = 'turn.interrupt';
const WORKFLOW_END = 'workflow.end';
const DEFAULT_AT_ONCE = 2;
const DEFAULT_STATES = 1_000_000;
/** A long timeout, so that the number of states decides when the search gives up, not the speed of the machine. */
const SEARCH_TIMEOUT_MS = 600_000;

/**
 * The properties that every agent promises. The subnet that repeats a model call is proved by itself: here no model call
 * is repeated. An outcome is defined only with `control`. The agent is quiescent only between turns, while
 * calls wait for an answer, while it is paused, or after its session was closed; one turn runs at a time, no agent calls
 * its model more often than its budget allows, and no effect begins once a turn must stop.
 */
export function agentProof(agent: Agent, limits: AgentProofLimits = {}): AgentProof {
  const { messages = 1, atOnce = DEFAULT_AT_ONCE, faults = 1, shutdowns = false } = limits;
  const { places } = agent.compiled;
  const has = (...of: readonly { readonly name: string }[]): boolean =>
    of.every(({ name }) => places.has(name));
  const { control = false } = limits;
  const judges = control && has(outcomeIn) && isSingleAgent(agent);
  // A turn that was to end may be judged, and then begins again. One that was interrupted is not judged.
  const renewals = [turnPermit.name, ...(judges ? [outcomeRound.name] : [])];
  const restarts = [turnPermit.name, ...(judges ? [outcomeGrading.name] : [])];
  const effects = agent.compiled.transitions
    .filter(({ spec }) => spec.kind === 'effect')
    .map(({ name }) => name);
  const tools = transitionsNamed(agent, TOOL_RUN);
  const interrupts = agent.compiled.byName.has(INTERRUPT);
  return {
    properties: {
      deadlockFree: deadlockFree(listRestingMarkings(agent.compiled, limits.quiescentPlaces ?? [])),
      ...omitUndefined({
        oneTurn: has(turnPermit, turnCurrent)
          ? placeBound([turnPermit.name, turnCurrent.name], 1)
          : undefined,
      }),
      ...Object.fromEntries(reaskBudgets(agent, atOnce, renewals)),
      ...Object.fromEntries(roundBudgets(agent, atOnce)),
      ...Object.fromEntries(joins(agent, atOnce)),
      ...Object.fromEntries(nodes(agent)),
      ...omitUndefined({
        transfersAreBounded: has(transferBudget)
          ? atMost(
              [
                ...transitionsNamed(agent, 'transfer.route'),
                ...transitionsNamed(agent, 'custom.transfer'),
              ],
              Math.min(atOnce, maxOutputCount(agent, transferBudget.name)),
              { per: userIn.name },
            )
          : undefined,
        noFireAfterEndInvocation: has(turnStopping, turnPermit)
          ? noFireAfterEndInvocation(effects, turnStopping.name, {
              until: restarts,
            })
          : undefined,
        noToolAfterInterrupt:
          tools.length > 0 && interrupts && has(turnPermit)
            ? noToolAfterInterrupt(tools, INTERRUPT, { until: turnPermit.name })
            : undefined,
      }),
      ...Object.fromEntries(approvals(agent)),
    },
    bounds: {
      environment: {
        ...(has(userIn) && { [userIn.name]: messages }),
        ...Object.fromEntries(
          sessionInputs
            .filter((place) => has(place))
            .map(({ name }) => [name, control && (name !== outcomeIn.name || judges) ? 1 : 0]),
        ),
      },
      empty: [...agent.compiled.places.keys()].filter((name) =>
        isInAnyScope(name, modelRescheduled.name),
      ),
      upTo: countsAtOnce(agent, atOnce),
      faults,
      shutdowns,
      states: limits.states ?? DEFAULT_STATES,
      searchTimeoutMs: SEARCH_TIMEOUT_MS,
    },
    components: agentComponents(agent, judges),
  };
}

/** For each agent with a model: at most its budget plus one model calls each time it has the turn. */
function reaskBudgets(
  agent: Agent,
  atOnce: number,
  renewals: readonly string[],
): readonly (readonly [string, Property])[] {
  return transitionsNamed(agent, MODEL_CALL).flatMap((ask) => {
    const owner = ask.slice(0, -MODEL_CALL.length);
    const per = owner === '' ? renewals : [targetPlace(owner.slice(0, -1)).name];
    const places = [`${owner}${turnBudget.name}`, ...per];
    if (places.some((name) => !agent.compiled.places.has(name))) return [];
    const budget = Math.min(atOnce, maxOutputCount(agent, places[0] ?? ''));
    const name = `reaskBudgetIsBounded${owner === '' ? '' : `/${owner.slice(0, -1)}`}`;
    return [[name, reaskBudgetIsBounded({ ask, budget, per })]];
  });
}

/** For each loop and each custom agent: at most as many rounds as its budget each time it has the turn. */
function roundBudgets(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  const bounded = (t: string, budget: string, name: string): (readonly [string, Property])[] =>
    transitionsNamed(agent, t).map((full) => {
      const owner = full.slice(0, -t.length);
      const max = Math.min(atOnce, maxOutputCount(agent, `${owner}${budget}`));
      const per = targetPlace(owner.slice(0, -1)).name;
      return [`${name}/${owner.slice(0, -1)}`, atMost([full], max, { per })];
    });
  return [
    ...bounded('loop.repeat', loopBudget.name, 'loopIsBounded'),
    ...bounded('custom.step', customBudget.name, 'yieldsAreBounded'),
    ...workflowBudgets(agent, atOnce),
  ];
}

/**
 * The number of tokens tried of each output: `atOnce`, but for the budget of a workflow at least the number of steps
 * that its nodes may take. With a smaller budget, runs would stop before the last node.
 */
function countsAtOnce({ compiled }: Agent, atOnce: number): Readonly<Record<string, number>> {
  const isBudget = (name: string): boolean => name.endsWith(`/${workflowBudget.name}`);
  const countSteps = (budget: string): number =>
    countWorkflowRuns(compiled, budget.slice(0, -workflowBudget.name.length)).steps;
  return Object.fromEntries(
    [...compiled.places.keys()].map((name) => [
      name,
      isBudget(name) ? Math.max(atOnce, countSteps(name)) : atOnce,
    ]),
  );
}

/** For each workflow: its nodes take at most as many steps as its budget each time it has the turn. */
function workflowBudgets(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  const { places, transitions } = agent.compiled;
  const budgets = [...places.keys()].filter((name) => name.endsWith(`/${workflowBudget.name}`));
  const counts = countsAtOnce(agent, atOnce);
  return budgets.map((budget) => {
    const owner = budget.slice(0, -workflowBudget.name.length);
    const steps = transitions.filter((t) => takesStep(t, owner)).map(({ name }) => name);
    const per = targetPlace(owner.slice(0, -1)).name;
    const max = Math.min(counts[budget] ?? atOnce, maxOutputCount(agent, budget));
    return [`stepsAreBounded/${owner.slice(0, -1)}`, atMost(steps, max, { per })];
  });
}

/**
 * For each workflow with a join: it never ends while a join has some of its inputs. If its nodes may run more often than
 * the proof tries, the name of the property says so.
 */
function joins(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  return transitionsNamed(agent, WORKFLOW_END).flatMap((end) => {
    const takesJoins = agent.compiled.byName.get(end)?.takes.some(({ mode }) => mode === 'all');
    if (takesJoins !== true) return [];
    const owner = end.slice(0, -WORKFLOW_END.length);
    const { steps, isComplete } = countWorkflowRuns(agent.compiled, owner);
    const tried = Math.max(atOnce, steps);
    const most = maxOutputCount(agent, `${owner}${workflowBudget.name}`);
    const property = joinsComplete(end);
    const within = `${property.name}, if its nodes run at most ${tried} times together`;
    return [
      [
        `joinsComplete/${owner.slice(0, -1)}`,
        isComplete || tried >= most ? property : { ...property, name: within },
      ] as const,
    ];
  });
}

/**
 * For each workflow: each of its nodes can begin. A node begins when it takes a step of the budget, and a join when it
 * fires.
 */
function nodes(agent: Agent): readonly (readonly [string, Property])[] {
  return transitionsNamed(agent, WORKFLOW_END).map((end) => {
    const owner = end.slice(0, -WORKFLOW_END.length);
    const begins = agent.compiled.transitions
      .filter((t) => t.name.startsWith(`${owner}node.join-`) || takesStep(t, owner))
      .map(({ name }) => name);
    return [`everyNodeReachable/${owner.slice(0, -1)}`, everyNodeReachable(...begins)];
  });
}

/** For each tool that always needs an approval: no call of it runs before its approval. */
function approvals(agent: Agent): readonly (readonly [string, Property])[] {
  const known = new Set(
    agent.compiled.transitions
      .flatMap(({ spec }) => spec.labels ?? [])
      .flatMap(({ only = [], known: others = [] }) => [...only, ...others]),
  );
  return transitionsNamed(agent, TOOL_RUN).flatMap((run) => {
    const owner = run.slice(0, -TOOL_RUN.length);
    const answer = `${owner}${TOOL_ANSWER}`;
    const of = owner === '' ? agent : findAgent(agent, owner.slice(0, -1));
    // The tools of a toolset can change, so the net has no labels for them.
    const isNamed = of !== undefined && listRunnableTools(of.tools) !== undefined;
    if (!isNamed || !agent.compiled.byName.has(answer)) return [];
    return [...of.tools].flatMap(([name, { needsApproval, external }]) =>
      needsApproval === true && !external && known.has(name)
        ? [
            [
              `approved/${owner}${name}`,
              precedes(`${answer}(${name})`, `${run}(${name})`, { each: true }),
            ] as const,
          ]
        : [],
    );
  });
}

function findAgent(root: Agent, name: string): Agent | undefined {
  if (root.name === name) return root;
  for (const sub of root.role.subAgents) {
    const found = findAgent(sub, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The transitions of this name, of all agents. */
function transitionsNamed({ compiled }: Agent, name: string): readonly string[] {
  return compiled.transitions.map((t) => t.name).filter((full) => isInAnyScope(full, name));
}

/** The most tokens that one firing puts in a place; 0 if no transition does. */
function maxOutputCount({ compiled }: Agent, name: string): number {
  const counts = compiled.transitions
    .flatMap(({ alternatives }) => [...alternatives.values()])
    .flatMap(({ outputs }) => outputs)
    .filter(({ place }) => place.name === name)
    .map(({ output }) => (output.arc === 'upTo' ? output.max : 1));
  return Math.max(0, ...counts);
}
