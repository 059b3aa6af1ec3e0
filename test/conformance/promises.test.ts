import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFixtures } from './fixture.ts';
import { promises } from './promises.ts';

const getId = (name: string): string => name.split(' ')[0] ?? '';
const ids = new Set(readFixtures().map(({ name }) => getId(name)));

test('all promises are listed', () => {
  assert.deepEqual(
    promises.map(({ number }) => number),
    Array.from({ length: 23 }, (_, index) => index + 1),
  );
});

for (const { number, promise, fixtures, tests = [] } of promises) {
  test(`promise ${number}, ${promise}, has evidence`, () => {
    assert.ok(fixtures.length > 0);
    for (const id of fixtures) assert.ok(ids.has(id), `no fixture ${id}`);
    for (const [file, name] of tests) {
      const titles = readFileSync(file, 'utf8').matchAll(/\b(?:test|it)\(\s*(['"`])(.*?)\1/gs);
      assert.ok(
        [...titles].some(([, , title]) => title?.includes(name)),
        `no test "${name}" in ${file}`,
      );
    }
  });
}

test('npm run conformance plays fixtures on a store of your choice', () => {
  const script = ['scripts/conformance.ts', '--store', 'memory:', 'F-1', 'P-07'];
  const { status, stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  assert.equal(status, 0);
  assert.deepEqual(stdout.match(/^(?:holds|FAILS) {2}[\w-]+/gm), ['holds  F-1', 'holds  P-07']);
});
