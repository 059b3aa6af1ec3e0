import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromSignature, toSignature } from './provider-seal.ts';

const seal = { by: 'anthropic', note: { anthropic: { signature: 'c2Vh+bGVk==' } } };

test('a seal comes back word for word, to the one who made it', () => {
  assert.deepEqual(fromSignature(toSignature(seal), 'anthropic'), seal);
  assert.deepEqual(fromSignature(toSignature({ by: 'ollama' }), 'ollama'), { by: 'ollama' });
});

test('a seal goes to nobody else', () => {
  for (const other of ['google', 'openai', '']) {
    assert.equal(fromSignature(toSignature(seal), other), undefined);
  }
});

test('a bare signature is Gemini’s', () => {
  const bare = { by: 'google', note: { google: { thoughtSignature: 'CiQB' } } };
  assert.deepEqual(fromSignature('CiQB', 'google'), bare);
  assert.equal(fromSignature('CiQB', 'anthropic'), undefined);
  assert.equal(fromSignature(undefined, 'google'), undefined);
});

test('what only looks like a seal is a bare signature', () => {
  for (const text of ['{"by":', '{"by":7}', '{"by":[]}']) {
    assert.equal(fromSignature(text, 'anthropic'), undefined);
    assert.equal(fromSignature(text, 'google')?.by, 'google');
  }
});
