import {
  canonicalJson,
  decodeJson,
  InvalidJsonError,
  isJsonObject,
  type ArgsError,
  type Json,
  type JsonObject,
} from '../../core/index.ts';

/** Far below what JSON in the journal may have, of which the arguments are the innermost part. */
const MAX_DEPTH = 100;

/** The arguments of a call as the model wrote them, read once. */
export type CallArgs = { readonly args: JsonObject; readonly argsError?: ArgsError };

/** Reads the arguments of a call. None at all are no arguments; what is not an object of JSON is kept as an error. */
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
 * Reads the arguments of a call whose text was streamed first. A package that lost the end of the stream makes arguments
 * up, so arguments that differ from the streamed text are an error. No text at all claims nothing.
 */
export function parseStreamedArgs(text: string, streamed: string): CallArgs {
  if (streamed.trim() === '') return parseCallArgs(text);
  const read = parseCallArgs(streamed);
  if (read.argsError !== undefined) return read;
  const made = parseCallArgs(text);
  if (made.argsError !== undefined || canonicalJson(made.args) !== canonicalJson(read.args)) {
    return invalidArgs('The arguments are not those that were streamed for this call.', streamed);
  }
  return made;
}

/** Arguments that broke off: nobody knows what the call meant. */
export function truncatedArgs(text: string): CallArgs {
  return invalidArgs('The arguments broke off before they were whole.', text);
}

/** What the journal could not hold, though it is JSON. */
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
