import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Output } from '../../../test/cli/command-folder.ts';
import { openBrowser } from './open-browser.ts';

test('the browser is opened for a person at a terminal only, and never in CI', async () => {
  const terminal = new Output(80);
  const url = 'http://127.0.0.1:1/console/';
  const env = { BROWSER: '/no/such/browser' };
  assert.equal(openBrowser(url, { stdout: terminal, env: { ...env, CI: 'true' } }), undefined);
  assert.equal(openBrowser(url, { stdout: new Output(), env }), undefined);
  assert.equal(openBrowser(url, { stdout: terminal, env: { BROWSER: 'none' } }), undefined);
  const started = openBrowser(url, { stdout: terminal, env });
  assert.deepEqual(started?.spawnargs.slice(1), [url]);
  // A program that is not there is not an error: the address is printed, too.
  await once(started, 'error');
});
