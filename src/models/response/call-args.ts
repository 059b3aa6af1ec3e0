import {
  canonicalJson,
  decodeJson,
  InvalidJsonError,
  isJsonObject,
  type ArgsError,
  type Json,
  type JsonObject,
} from '../../core/index.ts';

/** Far below the depth limit of the journal, in which arguments are nested deepest. */
const MAX_DEPTH = 100;

/** The parsed arguments of a call, or the text that could not be parsed. */
export type CallArgs = { readonly args: JsonObject; readonly argsError?: ArgsError };

/**
 * Parses the arguments of a call. An empty text means no arguments. Anything that is not a JSON
 * object becomes `argsError`.
 */
export function parseCallArgs(text: string): CallArgs {
  if (text.trim() === '') return { args: {} };
  try {
    const args = decodeJson(text, 'The arguments');
    if (!isJsonObject(args)) return invalidArgs('The arguments are not an object.', text);
    const problem = findProblem(args, 0);
    return problem === undefined ? { args } : invalidArgs(`The arguments ${problem}.`, text);
  } catch (error) {
    if (!(error instanceof InvalidJsonError)) throw error;
    return invalidArgs('The arguments are not JSON.', text);
  }
}

/**
 * Parses the arguments of a call whose text was streamed before. A package that lost the end of the
 * stream invents arguments, so arguments that differ from the streamed text are an error. Without
 * streamed text, nothing is compared.
 */
export function parseStreamedArgs(text: string, streamed: string): CallArgs {
  if (streamed.trim() === '') return parseCallArgs(text);
  const expected = parseCallArgs(streamed);
  if (expected.argsError !== undefined) return expected;
  const actual = parseCallArgs(text);
  if (
    actual.argsError !== undefined ||
    canonicalJson(actual.args) !== canonicalJson(expected.args)
  ) {
    return invalidArgs('The arguments are not those that were streamed for this call.', streamed);
  }
  return actual;
}

/** The arguments of a call whose text was cut off. */
export function truncatedArgs(text: string): CallArgs {
  return invalidArgs('The arguments broke off before they were whole.', text);
}

/** Finds what the journal cannot hold although it is JSON. */
function findProblem(value: Json, depth: number): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'have a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `are nested deeper than ${MAX_DEPTH} levels`;
  for (const member of Object.values(value)) {
    const problem = findProblem(member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function invalidArgs(message: string, raw: string): CallArgs {
  return { args: {}, argsError: { message, raw } };
}
