/**
 * Plays the conformance fixtures and says of each whether it holds.
 * `npm run conformance -- [--store sqlite:] [--resolver ./resolver.ts] [F-1 P-05 …]`: `--store memory:` plays them in
 * memory; a resolver's module exports `resolver`, a function from a model reference to a model, and then only the types
 * of events are compared, for a model of one's own says what it likes.
 * `npm run conformance -- --protocols` plays the scenarios of client protocols with the stock clients that are installed
 * in test/protocols, and prints the table.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parseAgentDef } from '../src/managed/index.ts';
import type { Model, ModelRef } from '../src/models/index.ts';
import { readFixtures } from '../test/conformance/fixture.ts';
import type { Fixture } from '../test/conformance/fixture.ts';
import { checkPlayed, playFixture } from '../test/conformance/play-fixture.ts';
import { printProtocolTable } from '../test/protocols/print-protocol-table.ts';

interface ResolverModule {
  readonly resolver: (ref: ModelRef) => Promise<Model>;
}

const { values, positionals } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite:' },
    resolver: { type: 'string' },
    protocols: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.protocols) {
  process.exitCode = (await printProtocolTable()) ? 0 : 1;
  process.exit();
}
const own: ResolverModule | undefined =
  values.resolver === undefined
    ? undefined
    : await import(pathToFileURL(resolve(values.resolver)).href);
const folder = mkdtempSync(join(tmpdir(), 'petrichor-conformance-'));
let failed = 0;
try {
  for (const fixture of readFixtures()) {
    const [id = ''] = fixture.name.split(' ');
    if (positionals.length > 0 && !positionals.includes(id)) continue;
    const why = await findComplaint(fixture, id);
    if (why !== undefined) failed++;
    console.log(
      `${why === undefined ? 'holds' : 'FAILS'}  ${fixture.name}: ${fixture.description}`,
    );
    if (why !== undefined) console.log(`       ${why.replaceAll('\n', '\n       ')}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

async function findComplaint(fixture: Fixture, id: string): Promise<string | undefined> {
  const store =
    values.store === 'memory:' ? 'memory:' : `${values.store}${join(folder, `${id}.db`)}`;
  try {
    const model = await own?.resolver(parseAgentDef(fixture.agent_def).model);
    const played = await playFixture(fixture, { store, ...(model !== undefined && { model }) });
    const { exact_sequence } = fixture.assertions;
    const types = { ...(exact_sequence !== undefined && { exact_sequence }) };
    checkPlayed(own === undefined ? fixture : { ...fixture, assertions: types }, played);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
