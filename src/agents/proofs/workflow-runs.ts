import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';
import { workflowBudget } from '../workflow/workflow-places.ts';

/** The steps of one run of a workflow that a proof tries. */
export interface WorkflowRuns {
  readonly steps: number;
  /** True if no run of the workflow takes more steps, so that the proof leaves out none. */
  readonly isComplete: boolean;
}

/** Nodes that run more often together are tried up to this many steps, or once each if that is more. */
const MOST_STEPS = 32;

const ROUTE = 'node.route-';
const JOIN = 'node.join-';

/**
 * Finds how many steps the nodes of a workflow take together: a node that several nodes lead to runs once for each of
 * their runs, and a join as often as its rarest input. Nodes of a cycle are tried twice each.
 * @param owner the prefix of the names of the workflow, such as `orders/`
 */
export function countWorkflowRuns({ transitions }: CompiledNet, owner: string): WorkflowRuns {
  const own = transitions.filter(({ name }) => name.startsWith(owner));
  const steps = own.filter((t) => takesStep(t, owner));
  const most = Math.max(steps.length, MOST_STEPS);
  // By transition that fills places of nodes: how often it fires.
  const firings = new Map<string, number>([[`${owner}agent.begin`, 1]]);
  const nodes = own.flatMap(({ name }) =>
    name.startsWith(`${owner}${ROUTE}`) ? [name.slice(owner.length + ROUTE.length)] : [],
  );
  const arrivals = (place: string): number =>
    own.reduce(
      (sum, t) => sum + (gives(t, place) ? Math.min(most + 1, firings.get(t.name) ?? 0) : 0),
      0,
    );
  const count = (node: string): number => {
    const join = own.find(({ name }) => name === `${owner}${JOIN}${node}`);
    if (join === undefined) return arrivals(`${owner}node.ready-${node}`);
    const inputs = join.takes.filter(({ place }) => place.startsWith(`${owner}node.${node}-from-`));
    return Math.min(...inputs.map(({ place }) => arrivals(place)));
  };
  let grows = true;
  // Without a cycle, no path has more nodes than there are.
  for (let round = 0; grows && round <= nodes.length; round++) {
    grows = false;
    for (const node of nodes) {
      const before = firings.get(`${owner}${ROUTE}${node}`) ?? 0;
      const after = Math.min(most + 1, count(node));
      if (after > before) grows = true;
      firings.set(`${owner}${ROUTE}${node}`, Math.max(before, after));
    }
  }
  const total = nodes
    .filter((node) => !own.some(({ name }) => name === `${owner}${JOIN}${node}`))
    .reduce((sum, node) => sum + (firings.get(`${owner}${ROUTE}${node}`) ?? 0), 0);
  if (grows) return { steps: Math.min(total, 2 * steps.length), isComplete: false };
  return { steps: Math.max(steps.length, Math.min(total, most)), isComplete: total <= most };
}

/** True for a transition that takes a step of the budget of a workflow. */
export function takesStep({ takes }: CompiledTransition, owner: string): boolean {
  return takes.some(
    ({ place, mode }) => place === `${owner}${workflowBudget.name}` && mode !== 'all',
  );
}

function gives({ alternatives }: CompiledTransition, name: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.some(({ place }) => place.name === name),
  );
}
