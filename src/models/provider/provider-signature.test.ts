import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromThoughtSignature, toThoughtSignature } from './provider-signature.ts';

const signature = { by: 'anthropic', note: { anthropic: { signature: 'c2Vh+bGVk==' } } };

test('a signature is returned unchanged to the provider that created it', () => {
  assert.deepEqual(fromThoughtSignature(toThoughtSignature(signature), 'anthropic'), signature);
  assert.deepEqual(fromThoughtSignature(toThoughtSignature({ by: 'ollama' }), 'ollama'), {
    by: 'ollama',
  });
});

test('a signature is not sent to another provider', () => {
  for (const other of ['google', 'openai', '']) {
    assert.equal(fromThoughtSignature(toThoughtSignature(signature), other), undefined);
  }
});

test('a plain signature belongs to Gemini', () => {
  const plain = { by: 'google', note: { google: { thoughtSignature: 'CiQB' } } };
  assert.deepEqual(fromThoughtSignature('CiQB', 'google'), plain);
  assert.equal(fromThoughtSignature('CiQB', 'anthropic'), undefined);
  assert.equal(fromThoughtSignature(undefined, 'google'), undefined);
});

test('text that only resembles an encoded signature is a plain signature', () => {
  for (const text of ['{"by":', '{"by":7}', '{"by":[]}']) {
    assert.equal(fromThoughtSignature(text, 'anthropic'), undefined);
    assert.equal(fromThoughtSignature(text, 'google')?.by, 'google');
  }
});
