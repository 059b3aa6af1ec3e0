import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** Packages that run on every platform. */
const PORTABLE_PACKAGES: ReadonlySet<string> = new Set(['eventsource-parser']);

test('the client runs in a browser: it imports no platform-specific module', () => {
  const found = new Set<string>();
  const foreign: string[] = [];
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [statement, specifier = ''] of text.matchAll(
      /^(?:import|export)[^;]*? from '([^']+)';/gms,
    )) {
      // Type imports do not exist at run time.
      if (/^(?:import|export) type /.test(statement)) continue;
      if (specifier.startsWith('.')) visit(join(dirname(file), specifier));
      else if (!PORTABLE_PACKAGES.has(specifier)) foreign.push(`${file}: ${specifier}`);
    }
    if (/\b(?:process|Buffer|require)\b[.(]/.test(text)) foreign.push(file);
  };
  visit(join(import.meta.dirname, 'index.ts'));
  assert.deepEqual(foreign, []);
  assert.ok(found.size > 6, [...found].join(' '));
});
