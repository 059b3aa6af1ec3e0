import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import { readTree } from './architecture/read-tree.ts';
import { readSourceTree } from './architecture/rules.ts';
import type { SourceTree } from './architecture/rules.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ENTRY = 'src/index.ts';

/** The files of the tree that run when `entry` is imported. */
function listLoadedModules(entry: string, tree: SourceTree): ReadonlySet<string> {
  const modules = new Map(tree.modules.map((module) => [module.path, module]));
  const loaded = new Set([entry]);
  for (const path of loaded) {
    for (const { target, typeOnly, lazy } of modules.get(path)?.imports ?? [])
      if (target !== undefined && !typeOnly && !lazy) loaded.add(target);
  }
  return loaded;
}

it('importing the root entry loads no prover, provider or SQL module', () => {
  const tree = readSourceTree(readTree(ROOT));
  const loaded = [...listLoadedModules(ENTRY, tree)];
  assert.ok(loaded.includes('src/runtime/open-runtime.ts'));
  assert.deepEqual(
    loaded.filter((path) =>
      /^src\/(?:verify|cli|server|client|testing)\/|^src\/store\/sqlite|^src\/tools\/(?:artifacts\/(?!artifact-service|check-artifact-name)|memory\/(?:sqlite|vector))/.test(
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
