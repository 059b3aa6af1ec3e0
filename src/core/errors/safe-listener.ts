/**
 * Wraps a user's listener, such as `onError`, so that calling it never throws and never rejects. An error of the listener
 * becomes a process warning with the code `PETRICHOR_LISTENER`. If the listener is undefined, the returned function does
 * nothing.
 */
export function safeListener<Args extends readonly unknown[]>(
  name: string,
  listener: ((...args: Args) => unknown) | undefined,
): (...args: Args) => void {
  const warn = (thrown: unknown): void => {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    globalThis.process?.emitWarning(`${name} threw: ${reason}`, {
      /**
       * A listener of the program, such as `onError`, threw or rejected. It is the code of a process warning; the work
       * continues.
       * @remedy Correct the listener that the message names.
       */
      code: 'PETRICHOR_LISTENER',
    });
  };
  return (...args) => {
    try {
      const returned = listener?.(...args);
      if (returned instanceof Promise) returned.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
