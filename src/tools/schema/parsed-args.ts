import { PetrichorError } from '../../core/index.ts';

declare const valid: unique symbol;

/** Arguments that `parse` of the same tool accepted, as the output of its schema. */
export type ValidArgs = { readonly [valid]: true };

/**
 * The result of parsing a model's arguments: valid, or rejected with a message that the model can
 * act on.
 */
export type ParsedArgs =
  | { readonly ok: true; readonly value: ValidArgs }
  | { readonly ok: false; readonly message: string; readonly error?: AsyncSchemaError };

/**
 * Validates the arguments that a model wrote. It never throws, because every call must get a
 * response.
 */
export type ArgsParser = (args: unknown) => ParsedArgs;

/** One problem of the arguments, and where. */
export type ArgsIssue = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
};

/**
 * The schema of a tool validates asynchronously, or one of its rules threw and the library (zod, for example) turned
 * that into a promise. Arguments are validated synchronously before a call starts.
 * @remedy Use a schema without asynchronous rules, and check such rules in `execute`.
 */
export class AsyncSchemaError extends PetrichorError {
  override readonly code = 'async_schema' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(
      `Tool "${toolName}": its schema validates asynchronously, or one of its rules threw. ` +
        'Check such rules in execute instead.',
    );
    this.toolName = toolName;
  }
}

/** Brands a value as valid. Only for parsers that have just validated it. */
export function acceptArgs(value: unknown): ParsedArgs {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only place that brands a value
  return { ok: true, value: value as ValidArgs };
}

const MAX_ISSUES = 10;

/** A rejection that lists the first ten issues for the model. */
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

/** A path as text, such as `items[0].price`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      return i === 0 ? String(key) : `.${String(key)}`;
    })
    .join('');
}
