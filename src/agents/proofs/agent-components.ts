import type { NetComponent, ComponentTree } from '../../verify/index.ts';
import { faultPlace } from '../../net/index.ts';
import { parseRunningPlaceName } from '../../net/internal.ts';
import type { Agent } from '../agent/agent.ts';
import { agentContract } from '../agent/agent-contract.ts';
import type { AgentSlot } from '../agent/agent-subnet.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { turnCurrent, turnEnding, turnWaiting } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';

type Inherited = Pick<AgentSlot, 'multiAgent' | 'done'>;

/**
 * The agents of a session as components with contracts: each keeps the places of its own subnet. Undefined for an agent
 * that is a session by itself.
 */
export function agentComponents(agent: Agent): ComponentTree | undefined {
  const { places } = agent.compiled;
  if (!places.has(targetPlace(agent.name).name)) return undefined;
  return {
    shared: [turnCurrent, turnWaiting, turnStopping, stopRequested, faultPlace].map(
      ({ name }) => name,
    ),
    ports: [targetPlace(agent.name).name],
    children: [visit(agent, { multiAgent: {}, done: turnEnding }, agent)],
  };
}

function visit(
  agent: Pick<Agent, 'name' | 'role'>,
  inherited: Inherited,
  root: Agent,
): NetComponent {
  const { name, role } = agent;
  const slots = role.subAgents.map((_, index) => role.childSlot(index, inherited));
  const children = role.subAgents.map((sub, index) => visit(sub, slots[index] ?? inherited, root));
  const start = targetPlace(name).name;
  const ports = [
    start,
    ...role.subAgents.map((sub) => targetPlace(sub.name).name),
    ...slots.map(({ done }) => done.name).filter((done) => done !== inherited.done.name),
  ];
  const { places, transitions } = listOwn(name, root);
  return {
    name,
    places: [...new Set([...places, ...ports])],
    transitions,
    contract: agentContract({ starts: [start], dones: [inherited.done.name] }),
    children,
  };
}

/** The places and transitions of an agent's own subnet. */
function listOwn(name: string, { compiled }: Agent): Pick<NetComponent, 'places' | 'transitions'> {
  const scope = `${name}/`;
  const isOwn = (full: string): boolean => (parseRunningPlaceName(full) ?? full).startsWith(scope);
  const running = compiled.transitions.flatMap((t) =>
    t.spec.kind === 'effect' ? [t.running] : [],
  );
  const tokens = [...compiled.places.values()].flatMap((place) =>
    place.kind === 'tokens' ? [place.name] : [],
  );
  return {
    places: [...tokens, ...running].filter(isOwn),
    transitions: compiled.transitions.map((t) => t.name).filter(isOwn),
  };
}
