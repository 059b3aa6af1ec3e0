import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { StoreInUseError } from '../store-errors.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  collect,
  commitOk,
  commitSampleSteps,
  createSession,
  nextStep,
  turnStarted,
} from './sample-steps.ts';

/** Requirements about the space of deleted sessions. */
export const vacuumCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a vacuum gives the space of deleted sessions back, and changes nothing that can be read',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const { row, cursor } = await commitSampleSteps(two, await createSession(two, 'two'), 3);
      const large = await createSession(one, 'one', 'large');
      const events = Array.from({ length: 40 }, (_, index) =>
        turnStarted(index + 1, 1, randomBytes(10_000).toString('hex')),
      );
      await commitOk(one, [nextStep(large, undefined, { events })]);
      await one.delete(large.key);
      const items = await collect(one.exportItems());
      // While others use the store.
      const light = await one.vacuum();
      assert.ok(light.bytesAfter >= 0 && light.bytesBefore >= 0);
      assert.deepEqual(await collect(two.exportItems()), items);
      await commitOk(two, [nextStep(row, cursor)]);
      await two.leave('two');
      const later = await collect(one.exportItems());
      const { bytesBefore, bytesAfter } = await one.vacuum({ full: true });
      assert.ok(bytesAfter <= bytesBefore, `${bytesAfter} after, ${bytesBefore} before`);
      assert.deepEqual(await collect(two.exportItems()), later);
      await createSession(one, 'one', 'next');
    },
  ),

  storeContractCase(
    'a full vacuum is refused while another process uses the store',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      await assert.rejects(one.vacuum({ full: true }), StoreInUseError);
      await two.leave('two');
      await one.vacuum({ full: true });
    },
    { durability: 'crash' },
  ),
];
