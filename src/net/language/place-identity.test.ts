import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  effectName,
  isInAnyScope,
  isRunningPlaceName,
  parseRunningPlaceName,
  runningPlaceName,
  scopedName,
  scopedPlaceName,
} from './place-identity.ts';
import { place } from './place.ts';

test('the name of a running place leads back to its effect, in every scope', () => {
  for (const effect of ['tool.run', 'billing/tool.run', 'odd)', '(', '']) {
    const name = runningPlaceName(effect);
    assert.ok(isRunningPlaceName(name));
    assert.equal(parseRunningPlaceName(name), effect);
    assert.equal(scopedPlaceName('sales', name), runningPlaceName(scopedName('sales', effect)));
  }
});

test('other places have no effect, even with a name that begins like that of a running place', () => {
  for (const name of ['tool.call', 'running', 'running(x', 'not running(x)']) {
    assert.equal(parseRunningPlaceName(name), undefined);
  }
  assert.equal(effectName(place('running(x)')), undefined);
  assert.ok(isRunningPlaceName('running(x'));
});

test('a name is found in every scope, and not inside another name', () => {
  for (const [full, name, expected] of [
    ['tool.call', 'tool.call', true],
    ['billing/tool.call', 'tool.call', true],
    ['billing/eu/tool.call', 'tool.call', true],
    ['my.tool.call', 'tool.call', false],
    ['tool.call', 'billing/tool.call', false],
    ['running(billing/tool.run)', 'running(tool.run)', true],
    ['running(tool.run)', 'running(tool.run)', true],
    ['running(tool.run)', 'tool.run', false],
    ['billing/tool.run', 'running(tool.run)', false],
  ] as const) {
    assert.equal(isInAnyScope(full, name), expected, `${full} ${name}`);
  }
});
