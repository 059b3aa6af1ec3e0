import {
  decodeJson,
  InvalidJsonError,
  isJsonObject,
  type ArgsError,
  type JsonObject,
} from '../core/index.ts';

/** The arguments of a call as the model wrote them, read once. */
export type CallArgs = { readonly args: JsonObject; readonly argsError?: ArgsError };

/** Reads the arguments of a call. None at all are no arguments; what is not an object of JSON is kept as an error. */
export function parseCallArgs(written: string): CallArgs {
  if (written.trim() === '') return { args: {} };
  try {
    const args = decodeJson(written, 'The arguments');
    if (isJsonObject(args)) return { args };
    return refused('The arguments are not an object.', written);
  } catch (error) {
    if (!(error instanceof InvalidJsonError)) throw error;
    return refused('The arguments are not JSON.', written);
  }
}

function refused(message: string, raw: string): CallArgs {
  return { args: {}, argsError: { message, raw } };
}
