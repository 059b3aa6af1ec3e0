import { PetrichorError } from '../../core/internal.ts';

/**
 * A net breaks a build rule, or lacks the transition of a firing that is in flight. `compile`, `compose` and `instance`
 * throw it. `problems` lists every broken rule.
 * @remedy Correct the net. For a firing in flight, restore its transition, or migrate its firings.
 */
export class NetBuildError extends PetrichorError {
  override readonly code = 'net_build' as const;
  readonly problems: readonly string[];

  constructor(net: string, problems: readonly string[]) {
    super(
      `Net "${net}" does not build:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * A token was injected into a place that is not an environment place of the net. Nothing was changed.
 * @remedy Inject into one of the environment places in the message.
 */
export class UnknownPlaceError extends PetrichorError {
  override readonly code = 'unknown_place' as const;
  readonly place: string;

  constructor(net: string, place: string, known: readonly string[]) {
    super(
      `Net "${net}" has no environment place "${place}". ${known.length === 0 ? 'It has no environment places' : `Inject into one of ${known.join(', ')}`}.`,
    );
    this.place = place;
  }
}

/**
 * A value does not match the schema of its place. No token is deposited.
 * @remedy Correct the value, or change the schema of the place.
 */
export class TokenSchemaError extends PetrichorError {
  override readonly code = 'token_schema' as const;
  readonly place: string;

  constructor(place: string, issues: string) {
    super(`A token for place "${place}" does not match its schema: ${issues}.`);
    this.place = place;
  }
}

/**
 * A transition returned outputs that it did not declare. The firing becomes a fault, which keeps the inputs.
 * @remedy Correct the `run` of the transition, or declare the output in its `give`.
 */
export class OutputError extends PetrichorError {
  override readonly code = 'output' as const;
  readonly transition: string;

  constructor(transition: string, message: string) {
    super(`Transition "${transition}" ${message}.`);
    this.transition = transition;
  }
}

/**
 * A session's net changed, and the new net has no compatible place for its tokens. The session is unchanged, and its
 * log stays readable.
 * @remedy Add a `migrate` to the agent that moves or drops the tokens, or restore the places.
 */
export class NetChangedError extends PetrichorError {
  override readonly code = 'net_changed' as const;
  readonly places: readonly string[];

  constructor(net: string, places: readonly string[]) {
    super(
      `Net "${net}" no longer has these places, or changed their schema version: ${places.join(', ')}. ` +
        `They hold tokens of a live session. Add a \`migrate\` to the agent that moves or drops them, or restore the places.`,
    );
    this.places = places;
  }
}

/**
 * A key function of `matching` reads the `attempt` of a firing in flight. The number changes with each retry and each
 * crash, but the key of a token never changes. `compile` rejects such a net if it can see the read. Otherwise the firing
 * becomes a fault.
 * @remedy Compute the key from `firingId`, `startedAt` or `inputs`.
 */
export class FiringKeyError extends PetrichorError {
  override readonly code = 'firing_key' as const;

  constructor() {
    super(
      'A key function of matching() reads the `attempt` of a firing, which changes while the firing runs. Use `firingId`, `startedAt` or `inputs`.',
    );
  }
}
