import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SecretBox } from './secret-box.ts';

const [one, two] = ['a'.repeat(32), 'b'.repeat(32)] as const;

test('a sealed secret shows nothing, opens in its place only, and is sealed differently each time', () => {
  const box = new SecretBox(one);
  const sealed = box.seal('whsec_abc', 'webhook/blue/1');
  assert.doesNotMatch(sealed, /whsec|abc/);
  assert.notEqual(box.seal('whsec_abc', 'webhook/blue/1'), sealed);
  assert.equal(box.open(sealed, 'webhook/blue/1'), 'whsec_abc');
  assert.throws(() => box.open(sealed, 'webhook/red/1'), { code: 'secret_key' });
  // Not the last character: some of its bits may stand for nothing.
  const changed = sealed.replace(/.(?=.{8}$)/, (old) => (old === 'A' ? 'B' : 'A'));
  for (const wrong of [changed, sealed.slice(0, -8), 'sealed:v1::', sealed.slice(0, 20)])
    assert.throws(() => box.open(wrong, 'webhook/blue/1'), { code: 'secret_key' });
});

test('a key is replaced by another: the first seals, all open', () => {
  const old = new SecretBox(one).seal('x', 'here');
  const box = new SecretBox(`${two}, ${one}`);
  assert.equal(box.open(old, 'here'), 'x');
  assert.equal(box.isCurrent(old), false);
  const fresh = box.seal('x', 'here');
  assert.equal(box.isCurrent(fresh), true);
  assert.equal(new SecretBox(two).open(fresh, 'here'), 'x');
  assert.throws(() => new SecretBox(two).open(old, 'here'), {
    code: 'secret_key',
    message: /PETRICHOR_SECRET_KEY/,
  });
});

test('without a key nothing that is kept is sealed, and a weak key is refused', () => {
  assert.throws(() => new SecretBox(undefined).seal('x', 'here'), {
    code: 'secret_key',
    message: /PETRICHOR_SECRET_KEY/,
  });
  const passing = new SecretBox(undefined, { isKept: false });
  assert.equal(passing.open(passing.seal('x', 'here'), 'here'), 'x');
  for (const weak of ['', 'short', `${one},short`])
    assert.throws(() => new SecretBox(weak), { code: 'invalid_input', field: 'secretKey' });
  assert.throws(() => new SecretBox(() => 'short').seal('x', 'here'), { code: 'invalid_input' });
});
