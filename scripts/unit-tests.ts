/**
 * Runs the tests beside the code that start no processes, databases, provers or property searches:
 * the inner loop of development. The others are left to `npm test`.
 */
import { runTests } from './run-tests.ts';
import { isSlow, listTestFiles } from './test-files.ts';

const files = listTestFiles().filter((path) => path.startsWith('src/'));
const fast = files.filter((path) => !isSlow(path));
console.log(`${fast.length} of ${files.length} test files in src/`);
process.exitCode = await runTests(fast);
