import assert from 'node:assert/strict';
import { compile } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { formatReport, formatTrace, prove } from '../../src/verify/index.ts';
import type { Bounds, Property, PropertyResult } from '../../src/verify/index.ts';

/** Proves all of these properties, or fails with the report. */
export async function assertProved(
  net: Net,
  properties: readonly Property[],
  bounds: Bounds,
): Promise<readonly PropertyResult[]> {
  const report = await prove(compile(net), { properties, bounds });
  const open = report.results.filter(({ verdict }) => verdict !== 'proved');
  assert.deepEqual(open, [], formatReport(report));
  return report.results;
}

/** Refutes the property with a trace, or fails with the report. The trace, as text. */
export async function assertRefuted(net: Net, property: Property, bounds: Bounds): Promise<string> {
  const report = await prove(compile(net), { properties: [property], bounds });
  const [result] = report.results;
  assert.equal(result?.verdict, 'refuted', formatReport(report));
  assert.ok(result.trace);
  return formatTrace(result.trace);
}
