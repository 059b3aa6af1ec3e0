import { PetrichorError } from '../../core/internal.ts';

/** Thrown by `compile`, `compose` and `instance` if a net breaks a build rule. `problems` lists every broken rule. */
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

/** Thrown if a token is injected into a place that is not an environment place of the net. */
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

/** Thrown if a value does not match the schema of its place. No token is deposited. */
export class TokenSchemaError extends PetrichorError {
  override readonly code = 'token_schema' as const;
  readonly place: string;

  constructor(place: string, issues: string) {
    super(`A token for place "${place}" does not match its schema: ${issues}.`);
    this.place = place;
  }
}

/** A transition returned outputs that it did not declare. The firing becomes a fault, which keeps the inputs. */
export class OutputError extends PetrichorError {
  override readonly code = 'output' as const;
  readonly transition: string;

  constructor(transition: string, message: string) {
    super(`Transition "${transition}" ${message}.`);
    this.transition = transition;
  }
}

/**
 * Thrown if a session's net changed and the new net has no compatible place for its tokens. The session is unchanged
 * and its log stays readable.
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
