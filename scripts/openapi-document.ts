/** Writes the document that the server serves at `/openapi.json` to `scripts/client-types/openapi.json`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readServedDocument } from '../test/server/openapi-document.ts';

writeFileSync(
  join(import.meta.dirname, 'client-types/openapi.json'),
  `${JSON.stringify(await readServedDocument(), null, 2)}\n`,
);
