import { PetrichorError } from '../errors/petrichor-error.ts';

/** One problem of an output. */
export interface OutputIssue {
  /** The path of the value, such as `items[0].price`. Empty for the whole output. */
  readonly path: string;
  readonly message: string;
}

/**
 * The final answer of a turn is not JSON, or does not match the `output` schema. The turn itself completed, and its
 * answer stays in the session.
 * @remedy Ask again and name the problem, or describe the fields in the schema or the instruction. `text` is the answer.
 */
export class InvalidOutputError extends PetrichorError {
  override readonly code = 'invalid_output' as const;
  readonly sessionId: string;
  /** The answer of the model. */
  readonly text: string;
  readonly issues: readonly OutputIssue[];

  constructor(sessionId: string, text: string, issues: readonly OutputIssue[]) {
    const listed = issues
      .slice(0, MAX_LISTED)
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    const more = issues.length > MAX_LISTED ? [`and ${issues.length - MAX_LISTED} more`] : [];
    super(
      `Session "${sessionId}": the answer does not match the output schema: ${[...listed, ...more].join('; ')}. Ask again and name the problem, or describe the fields in the schema.`,
    );
    this.sessionId = sessionId;
    this.text = text;
    this.issues = issues;
  }
}

const MAX_LISTED = 10;
