import assert from 'node:assert/strict';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { describeOldNode } from './node-version.ts';

test('a Node older than the engines of the package is named in the error', () => {
  const message = /^Petrichor needs Node 22\.13 or later; this is v20\.20\.2\./;
  assert.match(describeOldNode('20.20.2') ?? '', message);
  assert.match(describeOldNode('22.12.0') ?? '', /this is v22\.12\.0/);
  assert.match(packageJson.engines.node, /22\.13/);
});

test('a Node of the oldest supported version or later is accepted', () => {
  for (const version of ['22.13.0', '22.22.1', '24.0.0', '25.0.0-nightly'])
    assert.equal(describeOldNode(version), undefined);
});
