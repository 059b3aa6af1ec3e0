import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SecretBox } from './secret-box.ts';

const [one, two] = ['a'.repeat(32), 'b'.repeat(32)] as const;

test('an encrypted secret reveals nothing, decrypts in its context only, and is different each time', () => {
  const box = new SecretBox(one);
  const encrypted = box.encrypt('whsec_abc', 'webhook/blue/1');
  assert.doesNotMatch(encrypted, /whsec|abc/);
  assert.notEqual(box.encrypt('whsec_abc', 'webhook/blue/1'), encrypted);
  assert.equal(box.decrypt(encrypted, 'webhook/blue/1'), 'whsec_abc');
  assert.throws(() => box.decrypt(encrypted, 'webhook/red/1'), { code: 'secret_key' });
  // Not the last character: some of its bits may be padding.
  const changed = encrypted.replace(/.(?=.{8}$)/, (old) => (old === 'A' ? 'B' : 'A'));
  for (const wrong of [changed, encrypted.slice(0, -8), 'sealed:v1::', encrypted.slice(0, 20)])
    assert.throws(() => box.decrypt(wrong, 'webhook/blue/1'), { code: 'secret_key' });
});

test('a key can be rotated: the first key encrypts, every key decrypts', () => {
  const old = new SecretBox(one).encrypt('x', 'here');
  const box = new SecretBox(`${two}, ${one}`);
  assert.equal(box.decrypt(old, 'here'), 'x');
  assert.equal(box.isCurrent(old), false);
  const fresh = box.encrypt('x', 'here');
  assert.equal(box.isCurrent(fresh), true);
  assert.equal(new SecretBox(two).decrypt(fresh, 'here'), 'x');
  assert.throws(() => new SecretBox(two).decrypt(old, 'here'), {
    code: 'secret_key',
    message: /PETRICHOR_SECRET_KEY/,
  });
});

test('without a key no persistent secret is encrypted, and a weak key is rejected', () => {
  assert.throws(() => new SecretBox(undefined).encrypt('x', 'here'), {
    code: 'secret_key',
    message: /PETRICHOR_SECRET_KEY/,
  });
  const passing = new SecretBox(undefined, { isPersistent: false });
  assert.equal(passing.decrypt(passing.encrypt('x', 'here'), 'here'), 'x');
  for (const weak of ['', 'short', `${one},short`])
    assert.throws(() => new SecretBox(weak), { code: 'invalid_input', field: 'secretKey' });
  assert.throws(() => new SecretBox(() => 'short').encrypt('x', 'here'), { code: 'invalid_input' });
});
