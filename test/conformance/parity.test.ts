import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import { openWireModel } from '../models/wire-model.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { readFixtures, turnsOf } from './fixture.ts';
import { normalised } from './normalised.ts';
import { playFixture } from './play-fixture.ts';

const fixture = readFixtures().find(({ name }) => name === 'F-8');

test('F-8 names the five providers there are adapters for', () => {
  const providers = new Set(wireFormats.map(({ provider }) => provider));
  assert.deepEqual(
    [...providers].toSorted(),
    fixture?.provider_parity?.providers.toSorted() ?? 'no fixture',
  );
});

for (const format of wireFormats) {
  test(`F-8 over the wire of ${format.name}: the same events, but for what was counted`, async () => {
    if (fixture === undefined) throw new Error('There is no F-8.');
    await using wire = await openWireModel(format, turnsOf(fixture));
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-parity-'));
    try {
      const store = `sqlite:${join(folder, 'sessions.db')}`;
      const { events } = await playFixture(fixture, { store, model: wire.model });
      assert.deepEqual(
        normalised(events).map(withoutUsage),
        fixture.assertions.events?.map(withoutUsage),
      );
      assert.equal(wire.server.requests.length, 2);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

function withoutUsage(event: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'usage'));
}
