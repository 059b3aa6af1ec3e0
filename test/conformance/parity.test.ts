import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import { openWireModel } from '../models/wire-model.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { readFixtures, listTurns } from './fixture.ts';
import { normalizeEvents } from './normalize-events.ts';
import { playFixture } from './play-fixture.ts';

const shared = readFixtures().filter(({ provider_parity }) => provider_parity !== undefined);

test('the fixtures for all providers list every provider with an adapter', () => {
  assert.deepEqual(
    shared.map(({ name }) => name.split(' ')[0]),
    ['F-8', 'P-20'],
  );
  const providers = [...new Set(wireFormats.map(({ provider }) => provider))].toSorted();
  for (const { provider_parity } of shared)
    assert.deepEqual(provider_parity?.providers.toSorted(), providers);
});

for (const fixture of shared) {
  for (const format of wireFormats) {
    test(`${fixture.name} on ${format.name} produces the expected events, except for usage`, async () => {
      await using wire = await openWireModel(format, listTurns(fixture));
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-parity-'));
      try {
        const store = `sqlite:${join(folder, 'sessions.db')}`;
        const { events } = await playFixture(fixture, { store, model: wire.model });
        assert.deepEqual(
          normalizeEvents(events).map(withoutUsage),
          fixture.assertions.events?.map(withoutUsage),
        );
        assert.equal(wire.server.requests.length, 2);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
}

function withoutUsage(event: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'usage'));
}
