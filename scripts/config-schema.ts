/** Writes the JSON Schema of the configuration file of `petrichor serve`, which editors read through its `$schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { configSchema } from '../src/cli/command/config-file.ts';
import { serveOptions } from '../src/cli/serve/serve-options.ts';

const schema = { title: 'petrichor serve --config', ...toJsonSchema(configSchema(serveOptions)) };
writeFileSync(
  join(import.meta.dirname, '..', 'dist', 'config.schema.json'),
  `${JSON.stringify(schema, undefined, 2)}\n`,
);
