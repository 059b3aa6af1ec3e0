import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

// A contract suite acts as the runtime, and the replay of a counterexample acts as the driver.
const sources = globSync('src/**/*.ts').filter(
  (file) => !file.endsWith('.test.ts') && !file.includes('/contract/'),
);
const callers = (pattern: RegExp): readonly string[] =>
  sources.filter((file) => pattern.test(readFileSync(file, 'utf8'))).toSorted();

test("only the runtime and the session services write to a store's inbox, and only drivers inject into a net", () => {
  assert.deepEqual(callers(/\bstore\.inject\(/), [
    'src/adk/app/interrupted-sessions.ts',
    'src/adk/sessions/store-session-service.ts',
    'src/runtime/session/submissions.ts',
  ]);
  assert.deepEqual(callers(/executor\.inject\(/), [
    'src/net/engine/driver.ts',
    'src/runtime/journal/fork-session.ts',
    'src/verify/replay/replay.ts',
  ]);
  assert.deepEqual(callers(/driver\.inject\(/), ['src/runtime/hosting/hosted-session.ts']);
});

test('no module observes places: the log is the only output of a session', () => {
  assert.deepEqual(callers(/\bobserve\w*\(\s*(place|marking)/i), []);
});
