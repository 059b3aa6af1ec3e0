import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import type { KillableOptions } from './kill-at-commit.ts';

/** A store whose process ends itself at the commit that its parent named. */
export async function openKillableStore(argument: string = '{}'): Promise<Store> {
  const options: KillableOptions = JSON.parse(argument);
  let passed = 0;
  const pass = (point: KillableOptions['point']): void => {
    if (point !== options.point || ++passed !== options.nth) return;
    process.kill(process.pid, 'SIGKILL');
    for (;;) {
      // Nobody in this process gets to do anything more.
    }
  };
  return openStore(`sqlite:${options.database}`, {
    failpoints: { beforeCommit: () => pass('before'), afterCommit: () => pass('after') },
  });
}
