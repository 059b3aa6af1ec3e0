/** Runs a function of a net's definition. If it throws, passes the error to `fault` and returns undefined. */
export function guard<T extends {}>(run: () => T, fault: (error: unknown) => void): T | undefined {
  try {
    return run();
  } catch (error) {
    fault(error);
    return undefined;
  }
}
