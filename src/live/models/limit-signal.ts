import type { LiveCall } from './live-signal.ts';

/** At six bytes of JSON for each character, a text of this length fits into a signal. */
const MAX_TEXT_LENGTH = 10_000;

/** The arguments of all calls of one signal, in characters of JSON. */
const MAX_ARGS_LENGTH = 32_000;

const MAX_RAW_LENGTH = 200;

/** Cuts a text into pieces that fit into a signal. A character is never cut. The last piece may be empty. */
export function splitText(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > MAX_TEXT_LENGTH) {
    const endsInPair = /[\uD800-\uDBFF]/.test(rest.charAt(MAX_TEXT_LENGTH - 1));
    const end = endsInPair ? MAX_TEXT_LENGTH - 1 : MAX_TEXT_LENGTH;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

/** Replaces arguments that do not fit into a signal by an `argsError`, which answers the call. */
export function limitCalls(calls: readonly LiveCall[]): readonly LiveCall[] {
  let left = MAX_ARGS_LENGTH;
  return calls.map((call) => {
    const raw = call.argsError?.raw ?? JSON.stringify(call.args);
    if (raw.length <= left) {
      left -= raw.length;
      return call;
    }
    const message = `The arguments have ${raw.length} characters, more than the ${left} that are left for this reply.`;
    const argsError = { message, raw: raw.slice(0, Math.min(left, MAX_RAW_LENGTH)) };
    left -= argsError.raw.length;
    return { id: call.id, name: call.name, args: {}, argsError };
  });
}
