import { net } from '../../net/index.ts';
import { renameTransition, scopedName } from '../../net/internal.ts';
import type { AnyPlace, Net, Ports } from '../../net/index.ts';
import type { AgentSlot, AgentSubnet } from '../agent/agent-subnet.ts';
import { isBranchVisible } from '../prompt/visible-contents.ts';
import { turnWait } from '../turn/turn-wait.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { toolCall } from '../vocabulary/tool-call.ts';
import { turnCurrent, turnWaiting } from '../vocabulary/turn.ts';

/** An agent of the session, with its position and its subnet. */
interface WaitingAgent {
  readonly name: string;
  readonly slot: AgentSlot;
  readonly subnet: AgentSubnet;
}

/** For each agent with parked calls, the transition that emits `turn.waiting` when no concurrent agent can make progress. */
export function turnWaits(subnets: readonly WaitingAgent[]): Net {
  const waiting = subnets.flatMap((one) =>
    one.subnet.parked === undefined ? [] : [{ ...one, parked: one.subnet.parked }],
  );
  const watchedPlaces: AnyPlace[] = [];
  const transitions = waiting.map(({ name, subnet: unit, parked, slot }) => {
    const { branch } = slot.multiAgent;
    const beside = subnets.filter((other) =>
      isConcurrentBranch(branch, other.slot.multiAgent.branch),
    );
    const around = subnets.flatMap(({ subnet: other }) =>
      other.whileWaiting !== undefined &&
      other !== unit &&
      isBranchVisible(other.whileWaiting.branch, branch ?? '')
        ? [other]
        : [],
    );
    watchedPlaces.push(...beside.flatMap((other) => other.subnet.workPlaces ?? []));
    watchedPlaces.push(...around.flatMap((other) => other.whileWaiting?.workPlaces ?? []));
    const wait = turnWait({
      parked,
      others: [...beside.map((other) => other.subnet), ...around].flatMap(
        (other) => other.parked ?? [],
      ),
      idle: [
        ...workPlacesIn(unit),
        ...unit.running,
        ...beside.flatMap((other) => [...other.subnet.running, ...(other.subnet.workPlaces ?? [])]),
        ...around.flatMap((other) => [...other.running, ...(other.whileWaiting?.workPlaces ?? [])]),
      ],
    });
    return renameTransition(wait, (own) => scopedName(name, own));
  });
  const held = [
    ...waiting.flatMap(({ subnet: unit, parked }) => [parked, ...workPlacesIn(unit)]),
    ...watchedPlaces,
  ];
  return net('turn-waits', {
    in: { ...toPorts(held), turnCurrent, turnStopping },
    out: { turnCurrent, turnWaiting, eventOut },
    transitions,
  });
}

/** The places whose tokens mean that an agent still has work to do. */
function workPlacesIn({ workPlaces, resources: part }: AgentSubnet): readonly AnyPlace[] {
  return workPlaces ?? [part.scoped(toolCall)];
}

/** True for the branches of concurrent agents: neither sees the other. */
function isConcurrentBranch(a: string | undefined, b: string | undefined): boolean {
  return !isBranchVisible(a, b) && !isBranchVisible(b, a);
}

function toPorts(places: readonly AnyPlace[]): Ports {
  return Object.fromEntries(places.map((place) => [place.name, place]));
}
