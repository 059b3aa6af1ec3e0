/**
 * Wraps a listener that a user gave, such as `onError`, so that it can be called from anywhere: it never throws and never
 * rejects. What the listener throws becomes a warning of the process. A missing listener hears nothing.
 */
export function safeListener<Args extends readonly unknown[]>(
  name: string,
  listener: ((...args: Args) => unknown) | undefined,
): (...args: Args) => void {
  const warn = (thrown: unknown): void => {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    globalThis.process?.emitWarning(`${name} threw: ${reason}`, { code: 'PETRICHOR_LISTENER' });
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
