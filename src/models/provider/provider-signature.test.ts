import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromThoughtSignature, toThoughtSignature } from './provider-signature.ts';

const seal = { by: 'anthropic', note: { anthropic: { signature: 'c2Vh+bGVk==' } } };

test('a seal comes back word for word, to the one who made it', () => {
  assert.deepEqual(fromThoughtSignature(toThoughtSignature(seal), 'anthropic'), seal);
  assert.deepEqual(fromThoughtSignature(toThoughtSignature({ by: 'ollama' }), 'ollama'), {
    by: 'ollama',
  });
});

test('a seal goes to nobody else', () => {
  for (const other of ['google', 'openai', '']) {
    assert.equal(fromThoughtSignature(toThoughtSignature(seal), other), undefined);
  }
});

test('a bare signature is Gemini’s', () => {
  const bare = { by: 'google', note: { google: { thoughtSignature: 'CiQB' } } };
  assert.deepEqual(fromThoughtSignature('CiQB', 'google'), bare);
  assert.equal(fromThoughtSignature('CiQB', 'anthropic'), undefined);
  assert.equal(fromThoughtSignature(undefined, 'google'), undefined);
});

test('what only looks like a seal is a bare signature', () => {
  for (const text of ['{"by":', '{"by":7}', '{"by":[]}']) {
    assert.equal(fromThoughtSignature(text, 'anthropic'), undefined);
    assert.equal(fromThoughtSignature(text, 'google')?.by, 'google');
  }
});
