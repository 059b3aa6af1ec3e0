import { PetrichorError } from '../../core/errors/petrichor-error.ts';

/** The net breaks rules that make its promises impossible. Every broken rule is listed; nothing was built. */
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

/** The net has no environment place of this name, so nothing can enter there. */
export class UnknownPlaceError extends PetrichorError {
  override readonly code = 'unknown_place' as const;
  readonly place: string;

  constructor(net: string, place: string, known: readonly string[]) {
    super(
      `Net "${net}" takes no input at "${place}": inject into one of ${known.join(', ') || '(it has no environment places)'}.`,
    );
    this.place = place;
  }
}

/** A value does not fit its place. Nothing was deposited. */
export class TokenSchemaError extends PetrichorError {
  override readonly code = 'token_schema' as const;
  readonly place: string;

  constructor(place: string, issues: string) {
    super(`A token for place "${place}" does not match its schema: ${issues}.`);
    this.place = place;
  }
}

/** A transition gave what it had not declared. The firing becomes a fault; its inputs are kept. */
export class OutputError extends PetrichorError {
  override readonly code = 'output' as const;
  readonly transition: string;

  constructor(transition: string, message: string) {
    super(`Transition "${transition}" ${message}.`);
    this.transition = transition;
  }
}

/** The session's net has changed in a way its tokens do not survive. The session is as it was; its log stays readable. */
export class NetChangedError extends PetrichorError {
  override readonly code = 'net_changed' as const;
  readonly places: readonly string[];

  constructor(net: string, places: readonly string[]) {
    super(
      `Net "${net}" no longer has these places, or holds something else in them: ${places.join(', ')}. ` +
        `They hold tokens of a live session: give the agent a \`migrate\` that says where they go, or bring the places back.`,
    );
    this.places = places;
  }
}
