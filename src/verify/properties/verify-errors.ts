import { PetrichorError } from '../../core/internal.ts';

/**
 * A property or a bound names a place or transition that the net does not have. A misspelled name must not look like a
 * proof.
 * @remedy Use one of the names in the message.
 */
export class UnknownNameError extends PetrichorError {
  override readonly code = 'unknown_name' as const;
  /** The missing thing, such as `place "turn.permit"`. */
  readonly what: string;

  constructor(net: string, what: string, known: readonly string[]) {
    super(`Net "${net}" has no ${what}: it has ${known.toSorted().join(', ') || 'none'}.`);
    this.what = what;
  }
}

/**
 * A bound or a property has an invalid value, such as a negative number or an empty list.
 * @remedy Correct the value at `field`.
 */
export class InvalidPropertyError extends PetrichorError {
  override readonly code = 'invalid_property' as const;
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}.`);
    this.field = field;
  }
}

/**
 * The contract of a component contradicts itself: two events have one name, or a step names an event or a state that the
 * contract does not have.
 * @remedy Correct the contract at `field`, as the message says.
 */
export class InvalidContractError extends PetrichorError {
  override readonly code = 'invalid_contract' as const;
  /** The name of the component. */
  readonly component: string;
  /** The place in the contract, such as `events[1].name`. */
  readonly field: string;

  constructor(component: string, field: string, problem: string, remedy: string) {
    super(`The contract of component "${component}" is invalid: ${field} ${problem}. ${remedy}`);
    this.component = component;
    this.field = field;
  }
}

/**
 * A state has more successors, or a net more token classes, than a search can hold. `prove` catches it: the result is
 * then `unknown`.
 * @remedy Lower the bounds, split the net into smaller subnets, or let a solver prove the property.
 */
export class SearchLimitError extends PetrichorError {
  override readonly code = 'search_limit' as const;
  readonly limit: string;

  constructor(limit: string) {
    super(`The search reached a limit: ${limit}.`);
    this.limit = limit;
  }
}

/**
 * The executor did not follow a path of the search, so the search or the replay has a defect.
 * @remedy Report it as a defect of Petrichor, with the net and the property.
 */
export class ReplayError extends PetrichorError {
  override readonly code = 'replay' as const;

  constructor(step: number, problem: string) {
    super(`The trace does not replay at step ${step}: ${problem}.`);
  }
}
