import { PetrichorError } from '../../core/errors/petrichor-error.ts';

/** A property or a bound names what the net does not have. Nothing was proved: a misspelt name must not look like a proof. */
export class UnknownNameError extends PetrichorError {
  override readonly code = 'unknown_name' as const;
  readonly what: string;

  constructor(net: string, what: string, known: readonly string[]) {
    super(`Net "${net}" has no ${what}: it has ${known.toSorted().join(', ') || 'none'}.`);
    this.what = what;
  }
}

/** A bound or a property says something that cannot be: a negative number, an empty list. */
export class InvalidPropertyError extends PetrichorError {
  override readonly code = 'invalid_property' as const;
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}.`);
    this.field = field;
  }
}

/** One state has more successors, or one net more kinds of tokens, than a search can hold. The search says `unknown`. */
export class SearchLimitError extends PetrichorError {
  override readonly code = 'search_limit' as const;
  readonly limit: string;

  constructor(limit: string) {
    super(`The search goes no further: ${limit}.`);
    this.limit = limit;
  }
}

/** A trace did not run on the executor as the search said it would: the search or this replay is wrong. */
export class ReplayError extends PetrichorError {
  override readonly code = 'replay' as const;

  constructor(step: number, problem: string) {
    super(`The trace does not replay at step ${step}: ${problem}.`);
  }
}
