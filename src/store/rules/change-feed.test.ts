import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ChangeFeed } from './change-feed.ts';

test('a listener that subscribes twice is called twice, until each is unsubscribed', () => {
  const feed = new ChangeFeed();
  let calls = 0;
  const listener = (): void => void calls++;
  const first = feed.add(listener);
  const second = feed.add(listener);
  feed.publish('any');
  assert.equal(calls, 2);
  first();
  first();
  feed.publish('any');
  assert.equal(calls, 3);
  second();
  feed.publish('any');
  assert.deepEqual([calls, feed.size], [3, 0]);
});

test('listeners are not called when nothing changed', () => {
  const feed = new ChangeFeed();
  feed.add(() => assert.fail('called'));
  feed.publish([]);
});

test('a listener that throws causes an uncaught error, and the others are called', () => {
  // In a separate process, because the test runner handles uncaught errors itself.
  const module = JSON.stringify(new URL('./change-feed.ts', import.meta.url).href);
  const code = `
    import { ChangeFeed } from ${module};
    const feed = new ChangeFeed();
    feed.add(() => { throw new Error('bad listener'); });
    feed.add((changed) => console.log('called', changed));
    process.once('uncaughtException', (error) => console.log('uncaught', error.message));
    feed.publish('any');
    console.log('published');`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', code]);
  assert.deepEqual(String(stdout).split('\n'), [
    'called any',
    'published',
    'uncaught bad listener',
    '',
  ]);
});
