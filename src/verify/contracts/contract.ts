/**
 * What a step does at the ports of a component. All members that are set must match.
 * - `gives`: it adds tokens to one of these places. Tokens that the same firing takes there one by one are subtracted, and
 *   those that it takes all at once and gives back.
 * - `takes`: it takes tokens from one of these places one by one, and for good.
 * - `empties`: it resets each of these places, or takes all of its tokens and does not give them back.
 * - `faults`: it is a firing whose own logic fails.
 * - `by`: the transition belongs to the component and its children, or to its environment.
 */
export interface StepPattern {
  readonly gives?: readonly string[];
  readonly takes?: readonly string[];
  readonly empties?: readonly string[];
  readonly faults?: true;
  readonly by?: 'component' | 'environment';
}

/** An event of a contract. A step that adds several tokens to the places of `gives` is as many events. */
export interface ContractEvent {
  readonly name: string;
  /** Who promises that the event happens only where the contract has a step for it. */
  readonly promisedBy: 'component' | 'environment';
  readonly on: StepPattern;
}

/**
 * The contract between a component of a net and its environment, as data: a deterministic automaton over the events at
 * the ports of the component. In a state without a step for an event, the event must not happen: the component
 * guarantees it for its own events, and assumes it for those of the environment. A step of the net that is several
 * events takes them in the order of `events`.
 */
export interface Contract {
  readonly initial: string;
  readonly events: readonly ContractEvent[];
  /** By state and event: the next state. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A part of a net with a contract, and the parts that it contains. */
export interface NetComponent {
  readonly name: string;
  /** The places that the component's proof looks at: its own ones and its ports. */
  readonly places: readonly string[];
  /** The transitions of the component, without those of its children. */
  readonly transitions: readonly string[];
  readonly contract: Contract;
  readonly children: readonly NetComponent[];
}

/** A net as a tree of components. What belongs to no component is the core, which has no contract of its own. */
export interface ComponentTree {
  /** Places that every proof looks at, such as the signals of a session. */
  readonly shared: readonly string[];
  /** Places of components that the proof of the core looks at as well. */
  readonly ports: readonly string[];
  readonly children: readonly NetComponent[];
}
