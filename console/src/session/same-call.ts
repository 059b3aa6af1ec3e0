/** A call as the model made it. */
interface MadeCall {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Whether two calls of a session have the same tool and arguments, as those with the same fingerprint have. A call that
 * waits has another id in the inbox than its event has in the log.
 */
export function isSameCall(a: MadeCall, b: MadeCall): boolean {
  return a.name === b.name && JSON.stringify(a.input) === JSON.stringify(b.input);
}
