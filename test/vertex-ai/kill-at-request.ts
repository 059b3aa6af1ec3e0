import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../../src/net/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import { bundleProgram } from '../bundled-program.ts';
import { address, openRunner } from './kill-host.ts';
import { withFake } from './open-fake.ts';

/** Requests of a run: two that read before it, two that read after it, and its four events. */
export const REQUESTS = 8;

/** Later than any claim of the killed process. */
const LATER_MS = 600_000;

/**
 * Kills a process when Agent Engine has done its n-th request and before it gets the response, then runs another message
 * in this process. Every event must be in Agent Engine once, and in the order of the store.
 */
export async function checkKillAtRequest(nth: number): Promise<void> {
  await withFake(async (fake, apiEndpoint, folder) => {
    const store = join(folder, 'journals.db');
    const { service: first, runner: unused } = openRunner(apiEndpoint, store);
    await first.createSession(address);
    await unused.close();
    await first.close();
    const start = fake.requests.length;
    const child = fork(await bundleProgram(new URL('kill-host.ts', import.meta.url)), [
      apiEndpoint,
      store,
    ]);
    const exited = once(child, 'exit');
    fake.behavior.onResponse = (count) => {
      if (count === start + nth) child.kill('SIGKILL');
    };
    const [, signal] = await exited;
    assert.equal(signal, 'SIGKILL', 'the process ended before its request');
    fake.behavior.onResponse = () => undefined;

    const later = {
      now: () => systemClock.now() + LATER_MS,
      at: (at: number, callback: () => void) => systemClock.at(at - LATER_MS, callback),
    };
    const { runner, service } = openRunner(apiEndpoint, store, later);
    await runner.run({ ...address, newMessage: 'Second' });
    const session = await service.getSession(address);
    const ids = session?.events.map(({ id }) => id);
    assert.deepEqual(fake.events('s1').map(readMarker), ids);
    // The first two requests come before the message is stored.
    const turn = ['functionCall', 'functionResponse', 'Done.'];
    const stored = nth > 2 ? ['First', ...turn] : [];
    assert.deepEqual(fake.texts('s1'), [...stored, 'Second', ...turn]);
    await runner.close();
    await service.close();
  });
}

function readMarker({ rawEvent }: { readonly rawEvent?: unknown }): unknown {
  return isJsonObject(rawEvent) ? rawEvent['id'] : undefined;
}
