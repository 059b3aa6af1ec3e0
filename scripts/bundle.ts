/**
 * Writes the JavaScript of `dist/`: one file per public entry, and chunks that the entries share. The declarations are
 * written by `tsc`.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSync, type Node } from 'oxc-parser';
import { rolldown, type Plugin } from 'rolldown';
import packageJson from '../package.json' with { type: 'json' };
import { BUNDLED_PACKAGES } from './bundled-packages.ts';
import { makeReadable } from './readable-code.ts';
import { listChildren } from './syntax-tree.ts';

const root = resolve(import.meta.dirname, '..');
const source = resolve(root, 'src');

/** Programs that a process or thread of their own runs, as the source names them. Nothing imports them. */
const programs = globSync('**/*.ts', { cwd: source })
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) =>
    [
      ...readFileSync(resolve(source, file), 'utf8').matchAll(/packageProgram\('([^']+)'\)/g),
    ].flatMap(([, program = '']) => program),
  );

/** `./dist/net/index.js` is the entry `net/index`. */
const entries = [
  ...Object.values(packageJson.exports).map((to) => (typeof to === 'string' ? to : to.default)),
  packageJson.bin.petrichor,
]
  .flatMap((file) => /^(?:\.\/)?dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
  .concat(programs);

/**
 * Entries that contain the next: what each imports, without what those before it import, is one chunk. So an import
 * reads few files, and what is imported lazily stays apart.
 */
const LAYERS = {
  client: 'client/index',
  tool: 'tools/tool/tool',
  core: 'core/index',
  net: 'net/index',
  agents: 'index',
  runtime: 'runtime/open-local-runtime',
};

/** What rolldown knows of the modules. */
interface ModuleGraph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Assigns each module to the first layer whose entry imports it, directly or not. */
function assignLayers(graph: ModuleGraph): ReadonlyMap<string, string> {
  const layers = new Map<string, string>();
  for (const [layer, entry] of Object.entries(LAYERS)) {
    const modules = new Set([resolve(source, `${entry}.ts`)]);
    for (const id of modules) {
      if (!layers.has(id)) layers.set(id, layer);
      for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
    }
  }
  return layers;
}

let layers: ReadonlyMap<string, string> | undefined;

/**
 * Marks the calls that make the constants of a module as free of side effects, so that a bundler can remove the
 * constants which a program does not use. Without chunks it would remove the whole module, by `sideEffects: false`.
 */
const pureConstants: Plugin = {
  name: 'pure-constants',
  transform: {
    filter: { id: /\.ts$/ },
    handler: (code, id, { magicString }) => {
      if (magicString === undefined) throw new Error('rolldown runs without nativeMagicString');
      const starts = new Set<number>();
      for (const statement of parseSync(id, code).program.body) {
        const declared = 'declaration' in statement ? statement.declaration : statement;
        if (declared?.type === 'VariableDeclaration' || declared?.type === 'ClassDeclaration')
          collectCalls(declared, starts);
      }
      for (const start of starts) magicString.prependLeft(start, '/* @__PURE__ */ ');
      return { code: magicString };
    },
  },
};

/** Collects where the calls begin that run when `node` is evaluated. */
function collectCalls(node: Node, starts: Set<number>): void {
  if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression') return;
  // Only what is static runs with the class.
  if (node.type === 'PropertyDefinition' && !node.static) return;
  if (node.type === 'CallExpression' || node.type === 'NewExpression') starts.add(node.start);
  for (const child of listChildren(node)) collectCalls(child, starts);
}

const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`])),
  // Packages, without the helper functions that the transformation adds.
  external: (id) => /^(?!@oxc-project\/)[@a-z]/.test(id) && !BUNDLED_PACKAGES.includes(id),
  platform: 'node',
  // The lowest Node of the package has no `using`.
  transform: { target: 'es2024' },
  plugins: [pureConstants],
  experimental: { nativeMagicString: true },
});
await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: {
    // Ordered, because a group takes what its modules import along.
    groups: Object.keys(LAYERS).map((layer, index) => ({
      debugName: layer,
      name: (id: string, graph: ModuleGraph) =>
        (layers ??= assignLayers(graph)).get(id) === layer ? layer : undefined,
      priority: Object.keys(LAYERS).length - index,
    })),
  },
  minify: {
    compress: { target: 'es2024', keepNames: { function: true, class: true } },
    // Stack traces have the names of functions and classes. Lines and private names are added below.
    mangle: { toplevel: true, keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: true },
  },
  comments: { legal: true, annotation: true, jsdoc: false },
  // Without a comment in the files, because the package does not contain the maps.
  sourcemap: 'hidden',
});
await bundle.close();

// A file without a map contains nothing but exports.
for (const mapFile of globSync('dist/**/*.js.map', { cwd: root })) {
  const file = mapFile.slice(0, -'.map'.length);
  const map = JSON.parse(readFileSync(mapFile, 'utf8'));
  const { code, mappings } = makeReadable(file, readFileSync(file, 'utf8'), map);
  writeFileSync(file, code);
  writeFileSync(mapFile, JSON.stringify({ ...map, mappings }));
}
