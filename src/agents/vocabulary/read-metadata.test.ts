import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../core/index.ts';
import { applyRecord, emptyMarking, listIn } from '../../net/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import { conversation } from './conversation.ts';
import { createMetadataReader } from './read-metadata.ts';

type ListChange = NonNullable<Extract<JournalRecord, { kind: 'fired' }>['lists']>[number];

const place = conversation.name;
const ids = ['e-1', 'e-2', 'e-3'];

const item: fc.Arbitrary<Json> = fc.record({
  invocationId: fc.constantFrom(...ids),
  content: fc.record({ role: fc.constantFrom('user', 'model'), parts: fc.constant([]) }),
  metadata: fc.record({ runConfig: fc.record({ n: fc.nat() }) }),
});

const change: fc.Arbitrary<ListChange> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ place: fc.constant(place), append: fc.array(item) }) },
  fc.record({
    place: fc.constant(place),
    keepLast: fc.nat(3),
    prefix: fc.array(item, { maxLength: 2 }),
  }),
  fc.record({ place: fc.constant(place), dropLast: fc.nat(3) }),
);

test('a reader that remembers a message reads what a new one reads, however the conversation changes', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const marking = emptyMarking();
      const read = createMetadataReader();
      for (const one of changes) {
        const { length } = listIn(marking, place).items;
        const list = 'keepLast' in one ? { ...one, keepLast: Math.min(one.keepLast, length) } : one;
        applyRecord(marking, {
          seq: marking.seq + 1,
          at: 0,
          kind: 'fired',
          t: 't',
          lists: [list],
        });
        for (const id of [...ids, ...ids.toReversed()])
          assert.deepEqual(read(marking, id), createMetadataReader()(marking, id));
      }
    }),
    { numRuns: 200 },
  );
});
