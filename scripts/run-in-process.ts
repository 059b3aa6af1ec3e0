/** Runs test files in this process, without a hook on every promise. */
import { createHook } from 'node:async_hooks';
import { run } from 'node:test';

type RunOptions = NonNullable<Parameters<typeof run>[0]>;

/**
 * Runs the files in this process.
 *
 * The runner follows every promise from the test that made it, only to name the test of an error
 * that nothing caught. That takes a quarter of the CPU time of tests that make many promises. Here
 * it follows everything but promises: an error that nothing caught still fails the run, as a
 * diagnostic without a title.
 */
export function runInProcess(options: RunOptions): ReturnType<typeof run> {
  const prototype: { enable: () => unknown } = Object.getPrototypeOf(createHook({}));
  const { enable } = prototype;
  // The runner enables its hook before `run` returns. On a version of Node without this property nothing changes.
  prototype.enable = function untracked(this: object) {
    const skipsPromises = Object.getOwnPropertySymbols(this).find(
      ({ description }) => description === 'kNoPromiseHook',
    );
    if (skipsPromises !== undefined) Reflect.set(this, skipsPromises, true);
    return enable.call(this);
  };
  try {
    return run({ ...options, isolation: 'none' });
  } finally {
    prototype.enable = enable;
  }
}
