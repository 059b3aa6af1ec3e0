import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromLibpetri, toLibpetri } from '../../src/interop/libpetri/index.ts';
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { allProofs } from '../proofs/all-proofs.ts';

for (const { name, net } of allProofs) {
  test(`${name}: is unchanged after export to libpetri and import`, async () => {
    const exported = await toLibpetri(net);
    const back = await fromLibpetri(exported.net, exported);
    assert.equal(compile(back).hash, compile(net).hash);
    assert.deepEqual(back.transitions, net.transitions);
    assert.deepEqual(listTokens(back), listTokens(net));
    assert.deepEqual([back.in, back.out], [net.in, net.out]);
  });
}

/** The initial tokens, one by one: equal ones may be written together. */
function listTokens({ initial }: Pick<Net, 'initial'>): readonly unknown[] {
  return initial.flatMap(({ place, value, times }) =>
    Array.from({ length: times }, () => ({ place, value })),
  );
}
