import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import type { KillableOptions } from './kill-at-commit.ts';

/** Opens a store that kills its process at a given commit. */
export async function openKillableStore(argument: string = '{}'): Promise<Store> {
  const options: KillableOptions = JSON.parse(argument);
  let passed = 0;
  const pass = (point: KillableOptions['point']): void => {
    if (point !== options.point || ++passed !== options.nth) return;
    process.kill(process.pid, 'SIGKILL');
    for (;;) {
      // No other code of this process runs until the signal arrives.
    }
  };
  return openStore(`sqlite:${options.database}`, {
    failpoints: { beforeCommit: () => pass('before'), afterCommit: () => pass('after') },
  });
}
