/** Writes the JSON Schemas of the files of `petrichor serve --config` and `petrichor retain`, which editors read through `$schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { configSchema } from '../src/cli/command/config-file.ts';
import { serveOptions } from '../src/cli/serve/serve-options.ts';
import { RETENTION_POLICY_SCHEMA } from '../src/runtime/internal.ts';

// `v.finite` has no counterpart: a JSON number is finite.
const retention = toJsonSchema(RETENTION_POLICY_SCHEMA, { errorMode: 'ignore' });

function writeSchema(file: string, schema: object): void {
  writeFileSync(
    join(import.meta.dirname, '..', 'dist', file),
    `${JSON.stringify(schema, undefined, 2)}\n`,
  );
}

writeSchema('config.schema.json', {
  title: 'petrichor serve --config',
  ...toJsonSchema(configSchema(serveOptions)),
});
writeSchema('retention.schema.json', {
  title: 'petrichor retain, petrichor serve --retention',
  ...retention,
  properties: { $schema: { type: 'string' }, ...retention.properties },
});
