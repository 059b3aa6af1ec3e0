import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import { readModule } from './architecture/module-facts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ENTRY = 'src/index.ts';

/** The files that run when `entry` is imported. */
function listLoadedModules(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const { target, typeOnly, lazy } of readModule({ path, text }).imports)
      if (target !== undefined && !typeOnly && !lazy) loaded.add(target);
  }
  return loaded;
}

it('importing the root entry loads no prover, provider or SQL module', () => {
  const loaded = [...listLoadedModules(ENTRY)];
  assert.ok(loaded.includes('src/runtime/open-runtime.ts'));
  assert.deepEqual(
    loaded.filter((path) =>
      /^src\/(?:verify|cli|server|client|testing)\/|^src\/store\/sqlite|^src\/tools\/(?:artifacts\/(?!artifact-service|check-artifact-name|encode-path-segment)|memory\/(?:sqlite|vector))/.test(
        path,
      ),
    ),
    [],
  );
  assert.deepEqual(loaded.filter((path) => path.startsWith('src/models/')).toSorted(), [
    'src/models/internal.ts',
    'src/models/model/check-response.ts',
    'src/models/model/generation-names.ts',
    'src/models/model/model-error.ts',
    'src/models/model/race-with-abort.ts',
    'src/models/model/with-call-ids.ts',
    'src/models/prompt/tool-names.ts',
    'src/models/reference/model-not-resolved-error.ts',
    'src/models/reference/model-ref.ts',
    'src/models/reference/named-model.ts',
    'src/models/reference/provider-name.ts',
    'src/models/response/redact.ts',
  ]);
});
