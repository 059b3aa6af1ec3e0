import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { drawMessagePath, messagePathPicture, traceMessagePath } from '../scripts/message-path.ts';
import type { PathCall } from '../scripts/message-path.ts';

const MAX_CALLS = 14;

describe('the way of a message, from session.send to the call of the model', () => {
  let calls: readonly PathCall[] = [];
  before(async () => {
    calls = await traceMessagePath();
  });

  it(`has at most ${MAX_CALLS} calls between files`, () => {
    const lines = calls.map(({ from, to, name }) => `${from} -> ${to} ${name}`).join('\n');
    assert.ok(calls.length <= MAX_CALLS, `${calls.length} calls:\n${lines}`);
  });

  it('leads from the session to the store, the net and the model', () => {
    assert.equal(calls[0]?.from, 'runtime/session/session-handle.ts');
    const files = calls.map(({ to }) => to);
    for (const file of ['store/memory/memory-store.ts', 'net/engine/driver.ts'])
      assert.ok(files.includes(file), file);
    assert.equal(files.at(-1), 'models/scripted/scripted-model.ts');
  });

  it('is as docs/architecture.md shows it (npm run diagrams)', async () => {
    assert.equal(readFileSync(messagePathPicture, 'utf8'), await drawMessagePath(calls));
    const page = readFileSync('docs/architecture.md', 'utf8');
    assert.ok(page.includes(messagePathPicture.replace('docs/', '')));
  });
});
