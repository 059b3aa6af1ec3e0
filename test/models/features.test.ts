import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FEATURES, parseModelRef, UnsupportedFeatureError } from '../../src/models/index.ts';
import type { Feature, ToolDeclaration } from '../../src/models/index.ts';
import { featureProbes, placeFor } from './feature-probes.ts';
import { ask, openWireModel } from './wire-model.ts';
import type { WireFormat } from './wire/wire-format.ts';
import { wireFormats } from './wire/wire-formats.ts';

const f: ToolDeclaration = {
  name: 'f',
  description: 'Does f.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
};

/**
 * `yes`: the request contains the feature. `by itself`: the provider does it without a field.
 * `no`: the request is rejected. `named`: the model is told only the name and type of the file.
 */
type Cell = 'yes' | 'no' | 'by itself' | 'named';

async function toCell(format: WireFormat, feature: Feature): Promise<Cell> {
  const { request, sign } = featureProbes[feature];
  await using wire = await openWireModel(format, [{ text: '{}' }], (baseUrl) =>
    placeFor(parseModelRef(format.ref(baseUrl)), feature),
  );
  const baseRequest = { tools: [f], instruction: 'Be brief.' };
  await ask(wire.model, baseRequest);
  try {
    const { providerMetadata } = await ask(wire.model, { ...baseRequest, ...request });
    if (new RegExp(`^${feature}: .*was not shown`).test(providerMetadata?.['warnings'] ?? '')) {
      assert.match(JSON.stringify(wire.server.requests[1]?.body), /you cannot be shown it/);
      return 'named';
    }
  } catch (error) {
    assert.ok(error instanceof UnsupportedFeatureError, String(error));
    assert.equal(error.feature, feature);
    assert.equal(wire.server.requests.length, 1, 'the request is rejected before it is sent');
    await assertDroppedWithWarning(format, feature);
    return 'no';
  }
  const [plain, withFeature] = wire.server.requests.map(({ body }) => JSON.stringify(body));
  assert.doesNotMatch(plain ?? '', sign);
  if (plain === withFeature) return 'by itself';
  assert.match(withFeature ?? '', sign);
  return 'yes';
}

/**
 * Checks that with `onUnsupported: 'warn'` the request is sent without the feature, and that the
 * answer has a warning.
 */
async function assertDroppedWithWarning(format: WireFormat, feature: Feature): Promise<void> {
  const { request } = featureProbes[feature];
  if (request.config === undefined) return;
  await using wire = await openWireModel(format, [{ text: '{}' }], (baseUrl) =>
    placeFor(parseModelRef(format.ref(baseUrl)), feature),
  );
  const config = { ...request.config, onUnsupported: 'warn' as const };
  const { providerMetadata } = await ask(wire.model, { tools: [f], config });
  assert.match(providerMetadata?.['warnings'] ?? '', new RegExp(feature.replace('.', '\\.')));
}

/** Parses the feature table of the page: cells by feature. */
function parseTable(page: string): ReadonlyMap<string, readonly string[]> {
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const start = cells.findIndex(([first]) => first === 'feature');
  const table = cells.slice(start);
  const end = table.findIndex(([first = ''], i) => i > 1 && !first.startsWith('`'));
  return new Map(
    table
      .slice(0, end === -1 ? undefined : end)
      .map(([first = '', ...rest]) => [first.replaceAll('`', ''), rest]),
  );
}

describe('the feature table in docs/models.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');
  const table = parseTable(page);

  it('has a column for each wire format and a row for each feature', () => {
    assert.deepEqual(
      table.get('feature'),
      wireFormats.map(({ name }) => name),
    );
    assert.deepEqual([...table.keys()].slice(2), [...FEATURES]);
  });

  for (const feature of FEATURES) {
    it(`describes ${feature} correctly for each wire format`, async () => {
      const cells = await Promise.all(wireFormats.map((format) => toCell(format, feature)));
      const documented = (table.get(feature) ?? []).map((cell) => cell.replace(/ \(.*\)$/, ''));
      assert.deepEqual(documented, cells);
    });
  }
});
