import { PetrichorError } from '../../core/index.ts';

declare const valid: unique symbol;

/** Arguments that `parse` of the same tool accepted, in the form its schema gives them. */
export type ValidArgs = { readonly [valid]: true };

/** What became of the arguments a model wrote: valid, or refused with words the model can act on. */
export type ParsedArgs =
  | { readonly ok: true; readonly value: ValidArgs }
  | { readonly ok: false; readonly message: string; readonly error?: AsyncSchemaError };

/** Judges what a model wrote. It never throws: every call must end in an answer. */
export type ArgsParser = (args: unknown) => ParsedArgs;

/** One thing that is wrong with arguments, and where. */
export type ArgsIssue = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
};

/**
 * A schema answers later, or one of its rules threw and the library hides that behind a promise, as zod does.
 * Arguments are judged before the call is taken up: use a schema without asynchronous rules.
 */
export class AsyncSchemaError extends PetrichorError {
  override readonly code = 'async_schema' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(
      `Tool "${toolName}": its parameters are judged asynchronously, or a rule of theirs threw. ` +
        'Check such rules in execute instead.',
    );
    this.toolName = toolName;
  }
}

/** Gives the brand: for parsers, that have just judged the value. */
export function acceptArgs(value: unknown): ParsedArgs {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where the brand is given
  return { ok: true, value: value as ValidArgs };
}

const MAX_ISSUES = 10;

/** Tells the model what is wrong, at most the first ten things. */
export function rejectArgs(issues: readonly ArgsIssue[]): ParsedArgs {
  const lines = issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const where = pathText(path);
    return where === '' ? message : `${where}: ${message}`;
  });
  const more = issues.length > MAX_ISSUES ? [`and ${issues.length - MAX_ISSUES} more`] : [];
  const all = [...lines, ...more].join('; ');
  return {
    ok: false,
    message: `The arguments are not valid: ${all}. Correct them and call again.`,
  };
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      return i === 0 ? String(key) : `.${String(key)}`;
    })
    .join('');
}
