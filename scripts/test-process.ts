/** A process of `run-tests.ts`: runs the test files that are its arguments, and sends the report of them. */
import { relative } from 'node:path';
import { readCpuSeconds } from './cpu-time.ts';
import { runInProcess } from './run-in-process.ts';
import { toMessages } from './test-reporter.ts';

/** Of one test or one suite. On a busy machine a suite that takes a minute may take ten. */
const TIMEOUT_MS = 900_000;

const files = process.argv.slice(2);
const events = runInProcess({ files, timeout: TIMEOUT_MS });

/** CPU seconds by file. A file is charged from its first test to the first test of the next file. */
const cpuSeconds: Record<string, number> = {};
let current = 'start of processes that many files share, and their imports';
let since = 0;
const charge = (next = ''): void => {
  const now = readCpuSeconds();
  cpuSeconds[current] = (cpuSeconds[current] ?? 0) + now - since;
  [current, since] = [next, now];
};
// A listener is called when a test starts. The report of it can come much later.
events.on('test:dequeue', ({ nesting, file }) => {
  const path = file === undefined ? undefined : relative('.', file);
  if (nesting === 0 && path !== undefined && path !== current) charge(path);
});

for await (const message of toMessages(events)) {
  if (!('totals' in message)) process.send?.(message);
  else {
    charge();
    // The only file of a process is charged for all of it, with the start.
    const [only] = files.length === 1 ? files : [];
    process.send?.({
      totals: {
        ...message.totals,
        cpuSeconds: only === undefined ? cpuSeconds : { [relative('.', only)]: readCpuSeconds() },
      },
    });
  }
}
