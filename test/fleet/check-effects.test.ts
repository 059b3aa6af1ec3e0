import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JournalRecord } from '../../src/net/index.ts';
import { findFalseRecoveries } from './check-effects.ts';

const owned = (seq: number, owner: string, epoch: number): JournalRecord => ({
  kind: 'owned',
  seq,
  at: 0,
  owner,
  epoch,
});

it('a recovery under a new epoch is right, and one under the epoch of the owner before is false', () => {
  const right = [owned(1, 'a', 2), owned(5, 'b', 3), owned(9, 'a', 7)];
  assert.deepEqual(findFalseRecoveries(right), []);
  const again = owned(12, 'a', 7);
  assert.deepEqual(findFalseRecoveries([...right, again]), [again]);
});
