/** A process of `run-tests.ts`: runs the test files that are its arguments, and sends the report of them. */
import { runInProcess } from './run-in-process.ts';
import { toMessages } from './test-reporter.ts';

const TIMEOUT_MS = 300_000;

const files = process.argv.slice(2);
for await (const message of toMessages(runInProcess({ files, timeout: TIMEOUT_MS })))
  process.send?.(message);
