import type { ExpandedNet } from '../system/expand.ts';
import { findPlace, findTransition } from '../system/find-by-name.ts';
import { assertContract } from './assert-contract.ts';
import type { ComponentTree, NetComponent, StepPattern } from './contract.ts';

/** A component with what its proof looks at, or the core: what is in no component. */
export interface NetPart {
  readonly name: string;
  /** Undefined for the core. */
  readonly own: NetComponent | undefined;
  readonly children: readonly NetPart[];
  /** The distance from the core. */
  readonly depth: number;
  /** Indexes of the places that it keeps beside the shared ones. */
  readonly places: readonly number[];
  /** Indexes of its transitions, without those of its children. */
  readonly transitions: ReadonlySet<number>;
  /** Indexes of its transitions and those of its children. */
  readonly inside: ReadonlySet<number>;
}

/** The name of the part of a net that is in no component. */
export const CORE = 'core';

/**
 * Returns the core of a net, with its components as children.
 * @throws UnknownNameError if the tree names a place or transition that the net does not have.
 * @throws InvalidContractError if a contract contradicts itself.
 */
export function createCore(net: ExpandedNet, tree: ComponentTree): NetPart {
  const children = tree.children.map((child) => createPart(net, child, 1));
  const below = children.flatMap(listParts);
  const owned = new Set([
    ...tree.shared.map((name) => findPlace(net, name)),
    ...below.flatMap(({ places }) => places),
  ]);
  const inside = new Set(below.flatMap((part) => [...part.transitions]));
  return {
    name: CORE,
    own: undefined,
    children,
    depth: 0,
    places: [
      ...tree.ports.map((name) => findPlace(net, name)),
      ...net.places.map(({ index }) => index).filter((index) => !owned.has(index)),
    ],
    transitions: new Set(
      net.transitions.map(({ index }) => index).filter((index) => !inside.has(index)),
    ),
    inside: new Set(net.transitions.map(({ index }) => index)),
  };
}

function createPart(net: ExpandedNet, own: NetComponent, depth: number): NetPart {
  assertContract(own);
  const children = own.children.map((child) => createPart(net, child, depth + 1));
  const transitions = new Set(own.transitions.map((name) => findTransition(net, name)));
  for (const { on } of own.contract.events)
    for (const name of listPortNames(on)) findPlace(net, name);
  return {
    name: own.name,
    own,
    children,
    depth,
    places: own.places.map((name) => findPlace(net, name)),
    transitions,
    inside: new Set([...transitions, ...children.flatMap(({ inside }) => [...inside])]),
  };
}

/** Lists a part and those inside it: children come before their parents. */
export function listParts(part: NetPart): readonly NetPart[] {
  return [...part.children.flatMap(listParts), part];
}

/** The names of the places at which an event of a contract happens. */
export function listPortNames({
  gives = [],
  takes = [],
  empties = [],
}: StepPattern): readonly string[] {
  return [...gives, ...takes, ...empties];
}
