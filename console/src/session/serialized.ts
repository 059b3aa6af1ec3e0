/** Runs one call after another. A call while one runs is one more call after it. */
export function serialized(run: () => Promise<void>, fail: (cause: unknown) => void): () => void {
  let running = false;
  let again = false;
  const start = (): void => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    again = false;
    run()
      .catch(fail)
      .finally(() => {
        running = false;
        if (again) start();
      });
  };
  return start;
}
