/**
 * Wraps a listener that a user gave, such as `onError`, so that it can be called from anywhere: it never throws and never
 * rejects. What the listener throws becomes a warning of the process. A missing listener hears nothing.
 */
export function safeListener<Heard extends readonly unknown[]>(
  name: string,
  listener: ((...heard: Heard) => unknown) | undefined,
): (...heard: Heard) => void {
  const warn = (thrown: unknown): void => {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    globalThis.process?.emitWarning(`${name} threw: ${reason}`, { code: 'PETRICHOR_LISTENER' });
  };
  return (...heard) => {
    try {
      const returned = listener?.(...heard);
      if (returned instanceof Promise) returned.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
